"""``python -m cobandit``: the command line."""

from cobandit.cli import main

if __name__ == "__main__":
    main()
