"""What evaluates a configuration on instances: the protocol, the registry, and what all of them check.

Adding a way to evaluate is adding a module: one of `BUILT_IN`, or any that a plan names as ``module:name``.

An evaluator knows nothing of policies, journals and budgets, and retries nothing: what went wrong with one
evaluation it returns or raises as a `Failure`, and whoever runs it decides.
"""

import importlib
import inspect
import math
import pkgutil
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import date
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from cobandit._text import ellipsize, suggest
from cobandit.errors import CobanditError
from cobandit.tables.safe_reading import Fields
from cobandit.tables.usage import Doubt, Reading, Usage

#: What one evaluation gave: columns of the table, by name.
Row = dict[str, float]

#: Status codes that say nothing of a request: too many of them, or nobody behind the gateway.
UNAVAILABLE = frozenset({429, 502, 503, 529})

#: Settings that say where a configuration is asked, in the place of an evaluator's options of these names.
WHERE = ("base_url", "key")

#: Status codes below 500 after which trying again may help, and those above.
AGAIN = frozenset({408, 409, 425}) | UNAVAILABLE


#: What endpoints and tasks of Inspect give: ``tokens`` are those generated, ``seconds`` go from request to
#: answer, and ``truncated`` is 1 where a limit of tokens cut the answer off, ``empty`` where there is none.
#: There may be ``written_tokens`` (to a cache), and columns that are 1 where tokens are ``doubtful`` (they do
#: not add up) or ``estimated`` (they were not counted).
COLUMNS = ("score", "prompt_tokens", "cached_tokens", "tokens", "seconds", "cost_usd", "truncated", "empty")


class Answered(dict[str, float]):
    """A row that comes with the answer that it scores, to be kept: text, finish reason, usage and so on.

    ``doubts`` are what could not be read of the answer, to be named once in a run.
    """

    def __init__(self, row: Row, answer: Mapping[str, Any], doubts: Sequence[Doubt] = ()):
        super().__init__(row)
        self.answer = answer
        self.doubts = tuple(doubts)


def keep_answer(
    row: Row,
    asked: str,
    text: str,
    target: str,
    finish: str | None,
    cut: bool,
    doubts: Sequence[Doubt] = (),
) -> Answered:
    """Note in a row what is odd about its answer, and let that be kept, with a checksum of what was asked."""
    row = row | {"truncated": float(cut), "empty": float(not text.strip())}
    prompt = sha256(asked.encode()).hexdigest()[:16]
    return Answered(row, {"prompt": prompt, "text": text, "target": target, "finish": finish}, doubts)


def count_tokens(usage: Usage) -> Row:
    """Give the tokens of a row; an answer's end is one, which some leave out.

    Examples
    --------
    >>> count_tokens(Usage(input=4, cached=16, output=0))
    {'prompt_tokens': 20.0, 'cached_tokens': 16.0, 'tokens': 1.0}
    """
    generated = float(max(1, usage.output))
    row = {"prompt_tokens": float(usage.prompt), "cached_tokens": float(usage.cached), "tokens": generated}
    return row | ({"written_tokens": float(usage.written)} if usage.written else {})


def read_tokens(row: Row) -> Usage | None:
    """Take tokens from a row, as `count_tokens` gives them; None if it has none.

    Examples
    --------
    >>> read_tokens(count_tokens(Usage(input=4, cached=16, output=2)))
    Usage(input=4.0, cached=16.0, output=2.0, written=0.0)
    """
    if not {"prompt_tokens", "tokens"} <= row.keys():
        return None
    cached, written = row.get("cached_tokens", 0.0), row.get("written_tokens", 0.0)
    return Usage(max(0.0, row["prompt_tokens"] - cached - written), cached, row["tokens"], written)


def note_reading(row: Row, reading: Reading) -> Row:
    """Add the tokens of an answer to its row, and 1 where they are doubtful or were not counted."""
    row = row if reading.usage is None else row | count_tokens(reading.usage)
    if reading.estimated:
        return row | {"estimated": 1.0}
    return row | ({"doubtful": 1.0} if reading.doubts else {})


class Failure(Exception):
    """An evaluation that gave no score.

    One that trying again cannot help is its question's and is scored as a plan's ``failures`` says.  For any
    other the service may be at fault: it is tried again for as long as the plan's ``patience``.

    Parameters
    ----------
    message : str
        What went wrong, for the report.
    cost : float, optional
        What it cost so far, in the unit of the run's cost column; None if that is not known.
    retry : bool
        Whether trying again may help, as after a dropped connection or a time-out.
    wait : float, optional
        Seconds that the service wants to be left alone first.
    unavailable : bool
        Whether it says nothing of the evaluation, since nobody was there or too much was asked at once.  It
        is tried again, and never scored.

    Examples
    --------
    >>> failure = Failure("status 429: too many requests", retry=True, wait=2)
    >>> str(failure), failure.retry, failure.cost
    ('status 429: too many requests', True, None)
    """

    def __init__(
        self,
        message: str,
        *,
        cost: float | None = None,
        retry: bool = False,
        wait: float | None = None,
        unavailable: bool = False,
    ):
        super().__init__(message)
        self.cost = cost
        self.retry = retry or unavailable
        self.wait = wait
        self.unavailable = unavailable


def judge_status(status: int) -> tuple[bool, bool]:
    """Whether trying again may help after a status code, and whether it says nothing of the request.

    Examples
    --------
    >>> [judge_status(status) for status in (400, 408, 429, 500)]
    [(False, False), (True, False), (True, True), (True, False)]
    """
    return status in AGAIN or status >= 500, status in UNAVAILABLE


class Evaluator(Protocol):
    """Evaluates configurations on instances.

    Attributes
    ----------
    block : int
        The largest number of instances of one call.
    at_once : int or None
        The largest number of calls that may overlap; None for any number.
    digests : mapping of str to str, optional
        A checksum of what is asked in each instance, and of whatever else must not change between two starts
        of a run; without the attribute nobody notices.
    timeout : float, optional
        Seconds that one evaluation may take if the plan does not say it; any without the attribute.
    bound_cost : callable, optional
        What an evaluation of a configuration on an instance costs at most, infinity where that is not known;
        only told before the first call.
    prices : str, optional
        Where prices are from, and of which day; the run and its card say so.
    reprice : callable, optional
        Given a configuration and a row that was measured before, the row with its cost by today's prices.
    """

    @property
    def block(self) -> int: ...  # noqa: D102 (above)

    @property
    def at_once(self) -> int | None: ...  # noqa: D102

    async def evaluate(
        self, configuration: Mapping[str, Any], instances: Sequence[str]
    ) -> Sequence[Row | Failure]:
        """Evaluate one configuration on instances.

        Returns
        -------
        sequence of Row or Failure
            One for each instance, in their order.

        Raises
        ------
        Failure
            If it is the same for all of them.
        CobanditError
            If every other evaluation would end like this one (a wrong key, a function that returns no
            numbers), so that the run had better stop.
        """
        ...


class EvaluatorOptions(Fields):
    """Base of the options of an evaluator; a field's description says what to write there."""


class Context(NamedTuple):
    """What an evaluator is told about the run that opens it.

    Parameters
    ----------
    configurations : sequence of mapping
        All that may be evaluated.
    instances : mapping of str to mapping
        All ids, and what the file of the plan's instances says of each, by column.
    cost : str
        The column that is the cost; `Failure.cost` is in its unit.
    folder : Path
        Where the plan is: its relative paths start there.
    output : Path
        The run's own folder, for logs that are worth keeping.
    objectives : sequence of str
        The columns of the objectives; refuse one that cannot come, if you know.
    day : date, optional
        Whose prices are taken, of those that change: the day on which the run began; None for today.
    """

    configurations: Sequence[Mapping[str, Any]]
    instances: Mapping[str, Mapping[str, Any]]
    cost: str
    folder: Path
    output: Path
    objectives: Sequence[str] = ()
    day: date | None = None


#: Options and context in, an evaluator to be entered out; entering checks what can be checked at no cost.
Opener = Callable[[Any, Context], AbstractAsyncContextManager[Evaluator]]


class Kind(NamedTuple):
    """A registered kind of evaluator: the model of its options, and what opens it."""

    options: type[EvaluatorOptions]
    open: Opener


#: The module of each kind that comes with the package, imported when it is named: HTTP takes its time.
BUILT_IN = {"callable": "functions", "openai": "endpoints", "inspect": "inspect_tasks"}

#: Every kind of evaluator whose module has been imported, by name.
EVALUATORS: dict[str, Kind] = {}


def evaluator(name: str, options: type[EvaluatorOptions]) -> Callable[[Opener], Opener]:
    """Register the function below, an async context manager, as what opens a kind of evaluator."""

    def register(open_: Opener) -> Opener:
        EVALUATORS[name] = Kind(options, open_)
        return open_

    return register


def find_evaluator(name: str) -> Kind:
    """Find a kind of evaluator by name.

    Parameters
    ----------
    name : str
        One of `BUILT_IN`, or ``module:name`` for one that another module registers.

    Raises
    ------
    CobanditError
        If there is none of that name, or the module cannot be imported.

    Examples
    --------
    >>> find_evaluator("callable").options.__name__
    'CallableOptions'
    >>> find_evaluator("calable")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    cobandit.errors.CobanditError: there is no evaluator 'calable': did you mean 'callable'? there are ...
    """
    module, _, short = name.rpartition(":")
    if module:
        import_module(module)
    elif name in BUILT_IN:
        importlib.import_module(f"{__name__}.{BUILT_IN[name]}")
    if short not in EVALUATORS:
        known = sorted({*EVALUATORS, *BUILT_IN})
        raise CobanditError(f"there is no evaluator {name!r}: {suggest(short, known)}")
    return EVALUATORS[short]


def import_module(name: str) -> Any:
    """Import a module that the user names; the current folder is searched first.

    Raises
    ------
    CobanditError
        If there is no such module, or it fails on import.
    """
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise CobanditError(
            f"the module {name!r} cannot be imported in {here} by {sys.executable}: {error}: write it "
            "without '.py', with dots between folders, start where it is, and install what it needs"
        ) from error
    except (Exception, SystemExit) as error:
        *_, last = traceback.extract_tb(error.__traceback__)
        place = f"{last.filename}, line {last.lineno}"
        raise CobanditError(f"{name!r} fails on import ({place}): {describe_error(error)}") from error


def load_function(name: str, *arguments: str) -> Callable[..., Any]:
    """Import ``module:function`` and check that it takes so many arguments.

    Raises
    ------
    CobanditError
        If there is none, or it does not take them.

    Examples
    --------
    >>> load_function("shutil:wich", "name")
    Traceback (most recent call last):
        ...
    cobandit.errors.CobanditError: the module 'shutil' has no 'wich': did you mean 'which'? check the name
    """
    module_name, _, path = name.partition(":")
    module = import_module(module_name)
    try:
        function = pkgutil.resolve_name(name)
    except AttributeError:
        remedy = suggest(path, (n for n in vars(module) if not n.startswith("_")), "check the name")
        raise CobanditError(f"the module {module_name!r} has no {path!r}: {remedy.strip()}") from None
    try:
        inspect.signature(function).bind(*arguments)
    except TypeError as error:
        raise CobanditError(
            f"{name} cannot be called as {path}({', '.join(arguments)}) ({error}): let it take these"
        ) from None
    except ValueError:  # compiled, without a signature to look at
        pass
    return function


def describe_error(error: BaseException) -> str:
    """An error of somebody's code in one line.

    Examples
    --------
    >>> describe_error(KeyError("model")), describe_error(TimeoutError())
    ("KeyError: 'model'", 'TimeoutError')
    """
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def read_row(given: Any, source: str) -> Row:
    """Check what somebody's code gave for one evaluation: a mapping of names to finite numbers.

    Parameters
    ----------
    given : object
    source : str
        What gave it, to start the message.

    Raises
    ------
    CobanditError
        If it is anything else.

    Examples
    --------
    >>> read_row({"correct": True, "tokens": np.int64(57)}, "my_module:evaluate")
    {'correct': 1.0, 'tokens': 57.0}
    >>> read_row({"correct": "yes"}, "my_module:evaluate")
    Traceback (most recent call last):
        ...
    cobandit.errors.CobanditError: my_module:evaluate gave 'yes' for 'correct': a finite number is needed; \
if there is none, raise cobandit.live.evaluators.Failure
    """
    if not isinstance(given, Mapping) or not given or not all(isinstance(name, str) for name in given):
        raise CobanditError(
            f"{source} gave {shorten(given)}: a mapping of column names to numbers is needed, "
            'such as {"correct": 1, "tokens": 57}'
        )
    row = {}
    for name, value in given.items():
        try:
            row[name] = math.nan if np.ndim(value) or isinstance(value, (str, bytes)) else float(value)
        except (TypeError, ValueError):
            row[name] = math.nan
        if not math.isfinite(row[name]):
            raise CobanditError(
                f"{source} gave {shorten(value)} for {name!r}: a finite number is needed; if there is none, "
                f"raise {Failure.__module__}.{Failure.__name__}"
            )
    return row


def shorten(value: Any) -> str:
    """Show a value in a message, its middle cut if it is long."""
    return ellipsize(repr(value), 80)
