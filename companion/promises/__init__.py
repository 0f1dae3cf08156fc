"""The library's promises about errors, tested on tables made to break them."""
