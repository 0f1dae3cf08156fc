"""Running many small tasks in one process, in several, or on a Dask cluster."""

import contextlib
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypedDict

import joblib
from rich.console import Console
from rich.progress import Progress

from cobandit import _validation
from cobandit.errors import CobanditError


class Parallel(TypedDict, total=False):
    """Keyword arguments of `run` for parallel work; they do not affect results."""

    workers: int  #: number of processes or threads; -1 for all cores
    backend: str  #: "loky", "threading" or "dask"
    scheduler: str | None  #: address of the Dask scheduler
    progress: bool  #: whether to show a progress bar


@contextlib.contextmanager
def spread(
    workers: int = 1,
    backend: str = "loky",
    scheduler: str | None = None,
    shared: tuple[Any, ...] = (),
) -> Iterator[None]:
    """Make joblib calls run in parallel, as in `run`, while the context is open.

    Raises
    ------
    CobanditError
        For an unknown back end, or a scheduler that is missing or does not answer.
    """
    _validation.choice(backend, "backend", ("loky", "threading", "dask"))
    if workers != -1:
        _validation.count(workers, "workers", 1)
    if backend == "dask" and scheduler is None:
        raise CobanditError(
            "backend 'dask' needs the address of a scheduler: give it as scheduler,"
            " such as tcp://127.0.0.1:8786",
            argument="scheduler",
            code="dask-or-scheduler",
        )
    if backend != "dask" and scheduler is not None:
        raise CobanditError(
            f"backend {backend!r} uses no scheduler: leave scheduler out, or choose"
            " backend 'dask'",
            argument="scheduler",
            code="dask-or-scheduler",
        )
    if scheduler is None:
        with joblib.parallel_config(backend=backend, n_jobs=workers):
            yield
        return
    try:
        from dask.distributed import Client
        from distributed.comm import get_address_host_port

        # check the address first, since a client would print tracebacks
        get_address_host_port(scheduler, strict=True)
        client = Client(scheduler, timeout=10, set_as_default=False)
    except ImportError:
        raise CobanditError(
            "backend='dask' needs Dask: pip install 'dask[distributed]'",
            argument="backend",
            code="missing-package",
        ) from None
    except (OSError, ValueError) as error:
        raise CobanditError(
            f"no Dask scheduler answers at {scheduler!r} ({error}): start it, or"
            " correct the address",
            argument="scheduler",
            code="no-scheduler",
        ) from None
    # shared arguments are sent to every worker once, and tasks refer to them
    with client, joblib.parallel_config(backend="dask", client=client, scatter=shared):
        yield


def _interrupted(error: BaseException | None) -> bool:
    """Return whether Ctrl-C caused an error.

    In compiled code, Ctrl-C raises a SystemError whose cause is KeyboardInterrupt.
    """
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


def run(
    function: Callable[..., Any],
    tasks: Sequence[tuple[Any, ...]],
    *,
    shared: tuple[Any, ...] = (),
    workers: int = 1,
    backend: str = "loky",
    scheduler: str | None = None,
    progress: bool = False,
) -> list[Any]:
    """Return ``[function(*shared, *task) for task in tasks]``, computed in parallel.

    Ctrl-C ends the run with a warning. The returned results are then those of the tasks
    before the first unfinished task.

    Parameters
    ----------
    function : callable
        Function that other processes can import.
    tasks : sequence of tuples
        Arguments of each call.
    shared : tuple
        First arguments of all calls, which are sent to Dask's workers once.
    workers : int
        Number of processes, or threads with ``backend="threading"``; -1 for all cores.
    backend : {"loky", "threading", "dask"}
    scheduler : str, optional
        Address of the Dask scheduler.
    progress : bool
        Whether to show a progress bar on the terminal.

    Returns
    -------
    list

    Raises
    ------
    CobanditError
        For an unknown back end, or a scheduler that is missing or does not answer.

    Examples
    --------
    >>> run(divmod, [(7, 2), (9, 4)])
    [(3, 1), (2, 1)]
    """
    finished: list[Any] = []
    with (
        spread(workers, backend, scheduler, shared),
        Progress(console=Console(stderr=True), disable=not progress) as bar,
    ):
        shown = bar.add_task("replaying", total=len(tasks))
        calls = (joblib.delayed(function)(*shared, *task) for task in tasks)
        results = joblib.Parallel(return_as="generator")(calls)
        try:
            for result in results:
                finished.append(result)
                bar.advance(shown)
        except (KeyboardInterrupt, SystemError) as error:
            if not _interrupted(error):
                raise
            warnings.warn(
                f"interrupted: only the results of the first {len(finished)} of"
                f" {len(tasks)} tasks are returned",
                stacklevel=3,
            )

    return finished
