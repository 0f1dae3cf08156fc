"""Jupyter kernels that start fast, as forks of a process with the slow imports.

`use` makes Jupyter start kernels as forks of a process that has imported pandas,
matplotlib and numba, and loaded every compiled method. Kernels share nothing else. This
works only on Linux, where such a process can be forked safely.

A page with four replays then takes 0.6 s instead of 2.6 s (median of four, two cores),
and the process takes 4.4 s once. This saves half a minute of processor time per build
of the book, and as much in tests of the notebooks. Without compiled methods on disk,
the process also compiles each method only once, instead of once per page.

    python book/_ext/warm.py    # start the process; each line on stdin starts a kernel
"""

from __future__ import annotations

import gc
import json
import logging
import os
import signal
import subprocess
import sys
from contextlib import suppress
from functools import lru_cache, partial
from importlib.metadata import EntryPoint
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from typing import TYPE_CHECKING

from jupyter_client.provisioning import KernelProvisionerFactory, LocalProvisioner

if TYPE_CHECKING:
    from sphinx.application import Sphinx

LAUNCHER = "ipykernel_launcher"
one_at_a_time = Lock()


def setup(app: Sphinx) -> dict[str, bool]:
    """Start the process, which loads while Sphinx imports the other extension."""
    use()
    if sys.platform == "linux":
        _server()
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def use() -> None:
    """Make Jupyter start all kernels of this process as forks."""
    if sys.platform == "linux":
        entry = EntryPoint(
            "warm", f"{__name__}:Warm", KernelProvisionerFactory.GROUP_NAME
        )
        factory = KernelProvisionerFactory.instance()
        factory.provisioners["warm"] = entry
        factory.default_provisioner_name = "warm"


class Warm(LocalProvisioner):
    """Provisioner that starts a kernel as a fork, with sockets in the file system.

    By default, Jupyter looks for free ports, which the kernel opens later. If several
    processes start kernels at the same time, another kernel may open these ports first.
    """

    sockets: TemporaryDirectory[str] | None = None

    async def pre_launch(self, **kwargs):
        if self.sockets is None:  # the kernel starts for the first time
            # a short path, because the path of a socket has at most 107 characters
            self.sockets = TemporaryDirectory(prefix="kernel-")
            self.parent.transport = "ipc"
            self.parent.cache_ports = False
            self.parent.ip = str(Path(self.sockets.name, "socket"))
        return await super().pre_launch(**kwargs)

    async def cleanup(self, restart: bool = False) -> None:
        await super().cleanup(restart)
        if self.sockets is not None and not restart:
            self.sockets.cleanup()

    async def launch_kernel(self, cmd, **kwargs):
        self.process = Forked(
            cmd[cmd.index(LAUNCHER) + 1 :],
            kwargs["env"],
            kwargs.get("cwd") or Path.cwd(),
        )
        self.pid = self.pgid = self.process.pid
        self.cwd = kwargs.get("cwd", Path.cwd())
        return self.connection_info


class Forked:
    """The part of the interface of `subprocess.Popen` that jupyter_client uses."""

    stdin = stdout = stderr = None

    def __init__(
        self, arguments: list[str], env: dict[str, str], cwd: str | Path
    ) -> None:
        with one_at_a_time:
            server = _server()
            print(json.dumps([arguments, env, str(cwd)]), file=server.stdin, flush=True)
            self.pid = int(server.stdout.readline())

    def send_signal(self, number: int) -> None:
        with suppress(ProcessLookupError):  # it has ended
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def poll(self) -> int | None:
        """Return None while the kernel runs, and 0 after its end."""
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return 0
        return None

    wait = poll  # jupyter_client only calls it after the end of the kernel


@lru_cache(maxsize=1)
def _server() -> subprocess.Popen[str]:
    # matplotlib reads this variable when it is imported
    inline = {"MPLBACKEND": "module://matplotlib_inline.backend_inline"}
    command = [sys.executable, "-P", __file__]
    return subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **inline},
    )


def load_kernels() -> None:
    """Run each method once, so that no page has to compile or load the method.

    If nothing is compiled yet, one process and its child compile half of the methods
    each, and other servers wait.
    """
    import fcntl  # exists only on Linux, like forked kernels

    import cobandit as cb
    from cobandit.policies.registry import list_methods
    from cobandit.replay.kernels._cache import FOLDER

    table = cb.load("synthetic-24")
    identify = partial(cb.replay_identification, table, replications=1)

    # compiling the race takes about as long as compiling the other methods of its kind
    def run_first_half() -> None:
        identify(["ParetoRace"], share=0.5, feedback="once")
        identify(list(list_methods("identification")), rho=200)

    def run_second_half() -> None:
        others = [name for name in list_methods("once") if name != "ParetoRace"]
        identify(others, share=0.5, feedback="once")
        cb.replay_online(table, list(list_methods("online")), rho=4, replications=1)

    with open(FOLDER / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if (child := os.fork()) == 0:
            run_first_half()
            os._exit(0)
        run_second_half()
        os.waitpid(child, 0)
        run_first_half()


def serve() -> None:
    """Import the modules of pages, and fork a kernel for each line on stdin."""
    # until it is ready, an interrupt ends this process without a traceback
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.environ["JPY_PARENT_PID"] = str(
        os.getpid()
    )  # a kernel ends when its parent ends
    import matplotlib.pyplot  # noqa: F401
    import pandas.io.formats.style  # noqa: F401
    import scipy.stats  # noqa: F401
    from ipykernel import kernelapp

    import cobandit.figures
    import cobandit.tables  # noqa: F401

    # by default, garbage collection takes a twentieth of the time of compilation
    gc.freeze()
    gc.set_threshold(100_000, 50, 50)
    load_kernels()
    gc.freeze()  # exclude existing objects from the garbage collection of kernels
    # the system removes kernels that have ended
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    # ignore interrupts: the client receives them too, and this process ends with it
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for line in sys.stdin:
        arguments, env, cwd = json.loads(line)
        if os.fork():
            continue
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.setsid()
        print(os.getpid(), flush=True)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(2, 1)
        os.environ.clear()
        os.environ.update(env)
        os.chdir(cwd)
        sys.argv = [LAUNCHER, *arguments]
        # after an interrupt, kernels would report that their sockets are closed
        kernelapp.launch_new_instance(log_level=logging.CRITICAL)
        sys.exit()


if __name__ == "__main__":
    serve()
