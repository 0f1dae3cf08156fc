"""Options of the commands whose work can run in parallel."""

from __future__ import annotations

from typing import Annotated

import typer

Workers = Annotated[int, typer.Option(help="Processes, or threads; -1 takes every core.")]
Backend = Annotated[str, typer.Option(help="loky (processes), threading or dask.")]
Scheduler = Annotated[str | None, typer.Option(help="Address of the Dask scheduler.")]
