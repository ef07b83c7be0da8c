"""What a tensor's elements are to Python and NumPy, and its casts to other dtypes."""

from collections.abc import Iterator
from numbers import Number
from typing import TYPE_CHECKING, Any, NoReturn

from . import copies, element_functions, numpy_bridge, printing
from . import dtypes as dt
from .backing import no_data
from .conversion import unpack_half_complex
from .core import TensorBase, values
from .dtypes import dtype
from .errors import LayoutError, LayoutOverflowError, LayoutTypeError, LayoutValueError, UnsupportedError
from .metadata_methods import MetadataMethods
from .parsing import parsed

if TYPE_CHECKING:
    from .tensors import Tensor


class ValueMethods(MetadataMethods):
    """The part of `Tensor` that reads elements, and casts them. Source: facts 4.1 and 6.6, torch 2.13."""

    __slots__ = ()

    def tolist(self) -> Any:
        """The elements as nested lists of Python numbers. Raises: bounds, dtype. Source: facts 6.6."""
        if self._storage._is_meta and 0 in self._layout.shape:
            raise no_data("tolist")
        a = values(self)
        if self.dtype.category == "raw" and self.dtype is not dt.complex32 and a.size:
            raise LayoutError("dtype", f"tolist: {self.dtype} has no numbers")
        if self.dtype is dt.complex32:
            a = unpack_half_complex(a)
        if self.dtype.numpy.kind == "V" or self.dtype.name.startswith(("bfloat", "float8")):
            a = a.astype("float32")
        return a.tolist()

    def item(self) -> Any:
        """The only element as a Python number.

        Raises: size (RuntimeError) where there is not exactly one; dtype (NotImplementedError) where it is no number.
        """
        if self.numel() != 1:
            raise LayoutError("size", f"item(): {self.numel()} elements, not one")
        if self._storage._is_meta:
            raise LayoutError("device", "item() of a meta tensor (facts 7.7)")
        if self.dtype.category == "raw" and self.dtype is not dt.complex32:
            raise UnsupportedError("dtype", f"item(): {self.dtype} has no numbers")
        found = self.tolist()
        while isinstance(found, list):
            found = found[0]
        return found

    def __bool__(self) -> bool:
        if self.numel() != 1:
            raise LayoutError("size", f"the truth of {self.numel()} elements is ambiguous")
        return bool(self.item())

    def _only(self, kind: Any) -> Any:
        if self.numel() != 1:
            raise LayoutValueError("size", f"{self.numel()} elements are no number of Python's")
        found = self.item()
        if isinstance(found, complex) and kind is not complex:
            if found.imag:
                raise LayoutError("overflow", f"{found} is no {kind.__name__}")
            found = found.real
        try:
            return kind(found)
        except OverflowError as e:
            raise LayoutOverflowError("overflow", str(e)) from None
        except ValueError as e:
            raise LayoutValueError("argument", str(e)) from None

    def __int__(self) -> int:
        return self._only(int)  # type: ignore[no-any-return]

    def __float__(self) -> float:
        return self._only(float)  # type: ignore[no-any-return]

    def __complex__(self) -> complex:
        return self._only(complex)  # type: ignore[no-any-return]

    def __index__(self) -> int:
        if self.dtype.category not in ("int", "bool") or self.numel() != 1:
            raise LayoutTypeError("argument", "only integer tensors of a single element are indices")
        return int(self.item())

    def __len__(self) -> int:
        if not self._layout.shape:
            raise LayoutTypeError("dimension", "len() of a 0-d tensor")
        return self._layout.shape[0]

    __nonzero__ = __bool__
    __long__ = __int__

    def __reversed__(self: Any) -> "Tensor":
        """The rows in reverse order, not one after another as Python has it, but copied to a tensor."""
        return self.flip(0) if self._layout.shape else self  # type: ignore[no-any-return]

    def __delitem__(self, index: Any) -> NoReturn:
        raise LayoutTypeError("argument", "a tensor has no items to be deleted")

    def __contains__(self: Any, x: Any) -> Any:
        if not isinstance(x, (TensorBase, Number)):
            raise LayoutError("argument", f"in: only tensors and numbers can be looked for, not a {type(x).__name__}")
        return (self == x).any().item()

    def __iter__(self: Any) -> Iterator["Tensor"]:
        if not self._layout.shape:
            raise LayoutTypeError("dimension", "iteration over a 0-d tensor (facts 3.9)")
        return iter(self.unbind(0))

    apply_ = element_functions.apply_
    map_ = element_functions.map_
    map2_ = element_functions.map2_

    def to_dense(self: Any, dtype: Any = None, *, masked_grad: Any = None) -> "Tensor":
        """Itself, being dense, or a copy in another dtype. Source: torch 2.13."""
        return self if dtype is None else self.to(dtype)  # type: ignore[no-any-return]

    def __repr__(self: Any) -> str:
        try:
            return printing.as_text(self)
        except (LayoutError, UnsupportedError, ValueError, TypeError):
            # What has no numbers, or reaches past its storage, is still told apart.
            return f"tensor(..., {self._layout}, dtype={self.dtype})"

    def __format__(self: Any, spec: str) -> str:
        if not self._layout.shape and not self._storage._is_meta:
            return format(self.item(), spec)
        return object.__format__(self, spec)

    __array__ = numpy_bridge.array_protocol
    __array_wrap__ = numpy_bridge.array_wrap
    __array_priority__ = 1000

    numpy = numpy_bridge.numpy

    @parsed(in_python="dtype")
    def type(self: Any, dtype: Any = None, non_blocking: bool = False) -> Any:
        """Name of the class for this dtype, or the tensor in another dtype. Source: facts 4.1.7."""
        return copies.type_(self, dtype)

    def type_as(self: Any, other: "Tensor") -> "Tensor":
        """The tensor in another one's dtype."""
        return copies.to(self, other.dtype)

    def _cast(self: Any, wanted: dtype, memory_format: Any) -> "Tensor":
        source: Tensor = self
        if memory_format is None:
            return source if source.dtype is wanted else copies.to_copy(source, wanted)
        return copies.to(source, wanted, memory_format=memory_format)

    def float(self, *, memory_format: Any = None) -> "Tensor":
        """`to(float32)`."""
        return self._cast(dt.float32, memory_format)

    def double(self, *, memory_format: Any = None) -> "Tensor":
        """`to(float64)`."""
        return self._cast(dt.float64, memory_format)

    def half(self, *, memory_format: Any = None) -> "Tensor":
        """`to(float16)`."""
        return self._cast(dt.float16, memory_format)

    def bfloat16(self, *, memory_format: Any = None) -> "Tensor":
        """`to(bfloat16)`."""
        return self._cast(dt.bfloat16, memory_format)

    def int(self, *, memory_format: Any = None) -> "Tensor":
        """`to(int32)`."""
        return self._cast(dt.int32, memory_format)

    def long(self, *, memory_format: Any = None) -> "Tensor":
        """`to(int64)`."""
        return self._cast(dt.int64, memory_format)

    def short(self, *, memory_format: Any = None) -> "Tensor":
        """`to(int16)`."""
        return self._cast(dt.int16, memory_format)

    def char(self, *, memory_format: Any = None) -> "Tensor":
        """`to(int8)`."""
        return self._cast(dt.int8, memory_format)

    def byte(self, *, memory_format: Any = None) -> "Tensor":
        """`to(uint8)`."""
        return self._cast(dt.uint8, memory_format)

    def bool(self, *, memory_format: Any = None) -> "Tensor":
        """`to(bool)`."""
        return self._cast(dt.bool_, memory_format)

    def cfloat(self, *, memory_format: Any = None) -> "Tensor":
        """`to(complex64)`."""
        return self._cast(dt.complex64, memory_format)

    def chalf(self, *, memory_format: Any = None) -> "Tensor":
        """`to(complex32)`."""
        return self._cast(dt.complex32, memory_format)

    def cdouble(self, *, memory_format: Any = None) -> "Tensor":
        """`to(complex128)`."""
        return self._cast(dt.complex128, memory_format)
