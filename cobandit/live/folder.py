"""Display of a run's folder in a notebook, during and after the run."""

from __future__ import annotations

import pandas as pd

from cobandit._text import as_html
from cobandit.errors import CobanditError
from cobandit.live.inspection import read_progress
from cobandit.live.progress import Progress
from cobandit.live.run_files import RunFiles
from cobandit.live.status import (
    describe_losers,
    describe_progress,
    tabulate_configurations,
    tabulate_evaluations,
)


class RunFolder(RunFiles):
    """The folder of a run, with a display in notebooks.

    A notebook displays the progress of the run, the state of each configuration, and
    the picture of the current front. Execute the cell again to follow a run in
    progress.

    Parameters
    ----------
    path : str or Path
        Path of the folder, such as ``runs/my-run``.

    See Also
    --------
    read_progress : The same information as data.

    Examples
    --------
    >>> RunFolder("runs/toy")
    RunFolder('runs/toy')
    """

    def __repr__(self) -> str:
        """Return the class and the path of the folder."""
        return f"RunFolder({self.path.as_posix()!r})"

    def _repr_html_(self) -> str | None:
        """Show status, configurations and picture in a notebook, if there is a run."""
        if not self.begun:
            return None

        progress = read_progress(self.path)
        status = describe_progress(progress)

        notes = [f"{name}: {text}" for name, text in status.items() if name != "run"]
        notes += describe_losers(progress)
        try:
            frame = tabulate_configurations(progress).rename_axis(index=None)
        except CobanditError:  # in the pilot
            names = list(progress.stage.names)
            frame = pd.DataFrame(
                {"evaluations": progress.stage.policy.pulls}, index=names
            )

        return as_html(status["run"], frame, notes, _draw_front(progress))


def _draw_front(progress: Progress) -> str:
    """Draw the current front; empty if there are too few evaluations for a table."""
    import matplotlib.pyplot as plt

    from cobandit import figures
    from cobandit.advice import recommend
    from cobandit.advice.answer import answer_lines

    try:
        table = tabulate_evaluations(progress)
    except CobanditError:
        return ""
    advice = recommend(table, returned=progress.front or None, **progress.question)
    headline, *_ = answer_lines(advice)
    figure = advice.plot()
    picture = figures.described(figures.panels(figure), headline)
    plt.close(figure)
    return picture
