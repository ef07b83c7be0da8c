"""Python's `multiprocessing`, taught to send tensors and storages as shared memory: PyTorch's module of that name.

Importing it registers how they travel; a process that only receives needs nothing.
"""

import multiprocessing as _multiprocessing
from typing import Any

from .shared_memory import get_all_sharing_strategies as get_all_sharing_strategies
from .shared_memory import get_sharing_strategy as get_sharing_strategy
from .shared_memory import init_reductions as init_reductions
from .shared_memory import set_sharing_strategy as set_sharing_strategy

init_reductions()


def __getattr__(name: str) -> Any:
    return getattr(_multiprocessing, name)
