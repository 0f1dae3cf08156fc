"""``make measure``."""

import sys

from cobandit.companion.measured.evaluation import main

main(sys.argv[1:])
