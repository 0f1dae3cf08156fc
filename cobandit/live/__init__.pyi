from .answers import read_answers as read_answers
from .answers import rescore as rescore
from .journal import Journal as Journal
from .journal import Told as Told
from .outcome import Progress as Progress
from .runner import Run as Run
from .runner import export as export
from .runner import run as run
