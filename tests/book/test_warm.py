"""Pages run in kernels that start with the imports done, and share nothing else."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import warm
from jupyter_client.manager import KernelManager

from cobandit.replay.kernels._cache import FOLDER

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="kernels start as always"),
]


@pytest.fixture
def start():
    import side_by_side  # noqa: F401 - lets kernels be warm ones

    running = []

    def started():
        manager = KernelManager(kernel_name="python3")
        manager.start_kernel()
        running.append(manager)
        client = manager.client()
        client.start_channels()
        client.wait_for_ready()
        return manager, client

    yield started
    for manager in running:
        manager.shutdown_kernel(now=True)


def answer(client, code):
    text = []
    reply = client.execute_interactive(
        code, output_hook=lambda message: text.append(message["content"])
    )
    assert reply["content"]["status"] == "ok", reply
    return [content["text"].strip() for content in text if "text" in content]


def test_forked_kernel_has_imports_and_shares_no_state(start, tmp_path):
    (_, one), (_, second) = start(), start()
    assert answer(
        one,
        "import sys; print({'numba', 'pandas', 'cobandit.figures'} <="
        " set(sys.modules))",
    ) == ["True"]
    answer(one, f"import os, cobandit; cobandit.mine = 1; os.chdir({str(tmp_path)!r})")
    assert answer(
        second,
        "import os, cobandit; print(hasattr(cobandit, 'mine'), os.getcwd() != '/tmp')",
    ) == ["False True"]


def test_kernel_needs_no_port_and_leaves_no_socket(start):
    """Another process could take a port before the kernel does."""
    manager, client = start()
    sockets = Path(manager.ip).parent
    assert manager.transport == "ipc" and list(sockets.iterdir())
    client.stop_channels()
    manager.shutdown_kernel(now=True)
    assert not sockets.exists()


def test_no_page_compiles_a_method(start):
    """A method that the server omits would be compiled by every page at once."""
    _, client = start()
    code = """
from cobandit.policies.registry import KERNELS
print([policy for policy, kernel in KERNELS.items() if not kernel.run.signatures])"""
    assert answer(client, code) == ["[]"]


def test_figure_is_the_only_output_of_its_cell(start):
    _, client = start()
    shown = []
    client.execute_interactive(
        "import matplotlib.pyplot as plt\nfrom cobandit import"
        " figures\nfigures.use_style()\nplt.plot([1, 2])\nplt.show()",
        output_hook=lambda message: shown.append(message["content"].get("data", {})),
    )
    (figure,) = [data for data in shown if data]
    assert set(figure) == {"text/plain", "text/html"}
    assert 'class="panels"' in figure["text/html"]


def test_stopped_or_killed_kernel_is_noticed(start):
    stopped, _ = start()
    stopped.shutdown_kernel()
    died, client = start()
    client.execute("import os; os._exit(1)")
    deadline = time.monotonic() + 20
    while died.is_alive() and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not stopped.is_alive() and not died.is_alive()


def test_interrupt_while_it_loads_ends_the_process_silently():
    """Python's own handler, which prints a traceback, is replaced before imports."""
    import fcntl

    # the process cannot finish loading, because it waits for this lock
    with (FOLDER / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        process = subprocess.Popen(
            [sys.executable, "-P", warm.__file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        limit = time.monotonic() + 120
        # numpy is imported after the handler is replaced
        while "numpy" not in Path(f"/proc/{process.pid}/maps").read_text():
            assert process.poll() is None and time.monotonic() < limit
            time.sleep(0.01)

        process.send_signal(signal.SIGINT)
        _, message = process.communicate(timeout=120)
    assert process.returncode == -signal.SIGINT
    assert message == b""
