"""Where cost awareness pays: random problems by their properties, what each method loses, who leads."""
