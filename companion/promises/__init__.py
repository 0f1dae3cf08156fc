"""What the library promises about errors, tried on tables made to break it."""
