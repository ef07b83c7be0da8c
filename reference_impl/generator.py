"""Generators of random numbers: a seed and a state that can be kept, whatever numbers come of it."""

import struct
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Final

import numpy as np

from .calls import with_checked_calls
from .core import TensorBase, from_array, values
from .devices import device
from .dtypes import uint8
from .errors import LayoutError, LayoutTypeError, LayoutValueError, UnsupportedError

DEFAULT_SEED: Final = 67280421310721
# Seed, numbers left, whether seeded, next number, the Mersenne twister's words, and normal numbers kept back: none.
_STATE: Final = struct.Struct("<QiiQ624Q40x")
_WORDS: Final = 624


def _where(wanted: Any) -> device:
    if wanted is None:
        return device("cpu")
    place = device(wanted)
    if place.type != "cpu":
        raise LayoutError("device", f"Generator: there is no device {place}")
    return device("cpu")


def _as_seed(seed: Any) -> int:
    if isinstance(seed, (np.integer, TensorBase)) or type(seed) is not int:
        wrong = LayoutTypeError if isinstance(seed, np.integer) else LayoutError
        raise wrong("argument", f"manual_seed takes an int, got {type(seed).__name__}")
    if not -(2**63) <= seed < 2**64:
        raise LayoutValueError("overflow", f"manual_seed: {seed} does not fit 64 bits")
    return seed % 2**64


@with_checked_calls
class Generator:
    """A source of random numbers of its own, a Mersenne twister; the numbers are never compared with PyTorch's.

    The same seed and the same state give the same numbers again.

    Raises: device (RuntimeError) for any device but the CPU, argument (TypeError). Source: torch 2.13.

    >>> g = Generator().manual_seed(3)
    >>> g.initial_seed(), g.device, g.get_state().shape
    (3, device(type='cpu'), torch.Size([5056]))
    """

    __slots__ = ("__weakref__", "_numbers", "_seed")

    _seed: int
    # Made on first use: importing NumPy's generators takes longer than all the rest of this package.
    _numbers: Any

    def __new__(cls, device: Any = None) -> "Generator":
        """A generator of PyTorch's default seed."""
        self = object.__new__(cls)
        _where(device)
        self._start(DEFAULT_SEED)
        return self

    def _start(self, seed: int) -> None:
        self._seed = seed
        self._numbers = None

    def _drawing(self) -> Any:
        if self._numbers is None:
            twister: Any = np.random.MT19937()
            # As PyTorch does: by the lowest 32 bits.
            twister._legacy_seeding(self._seed % 2**32)
            self._numbers = np.random.Generator(twister)
        return self._numbers

    @property
    def device(self) -> device:
        """The CPU."""
        return device("cpu")

    def manual_seed(self, seed: Any, /) -> "Generator":
        """Begin anew from a seed, modulo 2**64.

        Raises: argument (RuntimeError; TypeError for NumPy's integers), overflow (ValueError). Source: torch 2.13.
        """
        self._start(_as_seed(seed))
        return self

    def initial_seed(self) -> int:
        """The seed that the numbers began from."""
        return self._seed

    def seed(self) -> int:
        """Begin anew from a seed that nobody chose, and tell it."""
        self._start(int(np.random.SeedSequence().generate_state(1, np.uint64)[0]))
        return self._seed

    def get_state(self) -> Any:
        """All that decides which numbers come, as a new tensor of 5056 bytes."""
        twister: Any = self._drawing().bit_generator.state["state"]
        position = int(twister["pos"])
        # PyTorch counts down to where it makes new words, and does not read the position there.
        left, following = (1, 0) if position == _WORDS else (_WORDS + 1 - position, position)
        state = _STATE.pack(self._seed, left, 1, following, *map(int, twister["key"]))
        return from_array(np.frombuffer(state, np.uint8), uint8)

    def set_state(self, state: Any, /) -> "Generator":
        """Go on from a state that `get_state` gave, of this generator or another.

        Raises: argument (TypeError) for what is no uint8 tensor; format, size, argument (RuntimeError) for one that is
        not contiguous, of another length, or no state. Source: torch 2.13.
        """
        if not isinstance(state, TensorBase) or state.dtype is not uint8:
            raise LayoutTypeError("argument", f"set_state takes a tensor of uint8, got {type(state).__name__}")
        t: Any = state
        if not t.is_contiguous():
            raise LayoutError("format", "set_state: a state must be contiguous")
        if t.numel() != _STATE.size:
            raise LayoutError("size", f"set_state: a state has {_STATE.size} bytes, got {t.numel()}")
        seed, left, seeded, following, *words = _STATE.unpack(values(t).tobytes())
        if not (seeded == 1 and 0 < left <= _WORDS and following <= _WORDS and max(words) < 2**32):
            raise LayoutError("argument", "set_state: these bytes are no state of a generator")
        self._start(seed)
        twister = {"key": np.array(words, np.uint32), "pos": _WORDS if left == 1 else following}
        self._drawing().bit_generator.state = {"bit_generator": "MT19937", "state": twister}
        return self

    def clone_state(self) -> "Generator":
        """Another generator that goes on from the same state."""
        return type(self)().set_state(self.get_state())

    def graphsafe_get_state(self) -> "Generator":
        """Nothing: the CPU has no graphs. Raises: device (NotImplementedError)."""
        raise UnsupportedError("device", "graphsafe_get_state: not of a generator on the CPU")

    def graphsafe_set_state(self, state: Any, /) -> "Generator":
        """Nothing: the CPU has no graphs. Raises: device (NotImplementedError)."""
        raise UnsupportedError("device", "graphsafe_set_state: not of a generator on the CPU")

    def get_offset(self) -> int:
        """Nothing: the CPU counts no offset. Raises: device (RuntimeError)."""
        raise LayoutError("device", "get_offset: a generator on the CPU has no offset")

    def set_offset(self, offset: Any, /) -> "Generator":
        """Nothing: the CPU counts no offset. Raises: device (RuntimeError)."""
        raise LayoutError("device", "set_offset: a generator on the CPU has no offset")

    def __reduce__(self) -> Any:
        return _again, (self.get_state(),)


def _again(state: Any) -> Generator:
    return Generator().set_state(state)


default_generator: Final = Generator()
"""The generator that all draw from who are given none."""


def numbers_of(generator: Generator | None) -> Any:
    """What draws the numbers for a function that was given a generator, or None."""
    return (default_generator if generator is None else generator)._drawing()


def manual_seed(seed: Any) -> Generator:
    """Begin anew from a seed, which may be anything that `int` takes; answers the generator.

    Raises: argument (TypeError, ValueError), overflow (ValueError). Source: torch 2.13.
    """
    try:
        number = int(seed)
    except TypeError as e:
        raise LayoutTypeError("argument", f"manual_seed: {e}") from None
    except ValueError as e:
        raise LayoutValueError("argument", f"manual_seed: {e}") from None
    return default_generator.manual_seed(number)


def seed() -> int:
    """Begin anew from a seed that nobody chose, and tell it."""
    return default_generator.seed()


def initial_seed() -> int:
    """The seed that the numbers began from."""
    return default_generator.initial_seed()


def get_rng_state() -> Any:
    """The state of the numbers for all who are given no generator. Raises: nothing. Source: torch 2.13."""
    return default_generator.get_state()


def set_rng_state(new_state: Any) -> None:
    """Go on from a state of theirs. Raises: as `Generator.set_state`. Source: torch 2.13."""
    default_generator.set_state(new_state)


@contextmanager
def fork_rng(
    devices: Iterable[Any] | None = None, enabled: bool = True, _caller: str = "fork_rng",
    _devices_kw: str = "devices", device_type: str = "cuda",
) -> Iterator[None]:  # fmt: skip
    """Go on from the state of before once the block is done. Source: torch 2.13.

    >>> with fork_rng():
    ...     state = manual_seed(4).get_state()
    >>> initial_seed() == 4
    False
    """
    before = get_rng_state() if enabled else None
    try:
        yield
    finally:
        if enabled:
            set_rng_state(before)
