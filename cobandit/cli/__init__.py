"""The ``cobandit`` command, one subcommand per file."""
