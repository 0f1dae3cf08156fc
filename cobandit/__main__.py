"""Entry point of ``python -m cobandit``, the command line."""

from cobandit.cli.app import main

if __name__ == "__main__":
    main()
