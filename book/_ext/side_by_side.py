"""A pytest plugin that lets nbval run notebooks in parallel.

Use it with ``pytest -p side_by_side -n 2 --nbval ...``. Two kernels that start at the
same time may choose the same port, so these kernels use sockets in the file system.
Like the kernels of the book's pages, they start as forks (`warm`).
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
