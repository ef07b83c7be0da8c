"""Python's `multiprocessing` with what PyTorch's module of that name adds to it.

How tensors and storages travel is registered when the package is imported.
"""

import multiprocessing as _multiprocessing
from typing import Any

from .shared_memory import get_all_sharing_strategies as get_all_sharing_strategies
from .shared_memory import get_sharing_strategy as get_sharing_strategy
from .shared_memory import init_reductions as init_reductions
from .shared_memory import set_sharing_strategy as set_sharing_strategy
from .spawning import ProcessContext as ProcessContext
from .spawning import ProcessException as ProcessException
from .spawning import ProcessExitedException as ProcessExitedException
from .spawning import ProcessRaisedException as ProcessRaisedException
from .spawning import spawn as spawn
from .spawning import start_processes as start_processes


def __getattr__(name: str) -> Any:
    return getattr(_multiprocessing, name)
