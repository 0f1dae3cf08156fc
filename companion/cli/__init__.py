"""The ``cobandit-book`` command, one subcommand per file."""
