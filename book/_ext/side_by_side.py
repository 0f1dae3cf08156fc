"""A pytest plugin that lets nbval run notebooks side by side: ``pytest -p side_by_side -n 2 --nbval ...``.

Two kernels that start at once may pick the same port; these talk through sockets of the
file system instead. They are warm, as those that run the pages of the book.
"""

from pathlib import Path
from tempfile import mkdtemp

import nbval.kernel
import warm
from jupyter_client.manager import KernelManager

warm.use()


def kernel_manager(**options):
    return KernelManager(transport="ipc", ip=str(Path(mkdtemp(), "kernel")), **options)


nbval.kernel.KernelManager = kernel_manager
