"""Commands of ``cobandit`` that have a file of their own."""
