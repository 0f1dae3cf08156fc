"""The version of the distribution, read when it is first asked for."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("cobandit")
except PackageNotFoundError:  # run from a source tree that was never installed
    __version__ = "0+unknown"
