"""The version of the installed distribution."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("cobandit")
except PackageNotFoundError:  # run from a source tree without installation
    __version__ = "0+unknown"
