"""The longer commands of ``cobandit``, one file each."""
