"""`torch.nn.parameter`: tensors that a module learns."""

from typing import Any, Self

from ..calls import tell_refusal
from ..constructors import empty
from ..core import TensorBase, check_flag, requires_grad
from ..errors import LayoutAttributeError
from ..formats import preserve_format
from ..metadata import make_subclass, set_requires_grad
from ..tensors import Tensor


class _ParameterMeta(type(Tensor)):  # type: ignore[misc]
    """Lets a tensor of a class of its own be a parameter by its attribute `_is_param`."""

    def __instancecheck__(cls, x: Any) -> bool:
        return super().__instancecheck__(x) or (
            cls is Parameter and isinstance(x, TensorBase) and getattr(x, "_is_param", False)
        )

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        try:
            return super().__call__(*args, **kwargs)
        except TypeError as e:
            tell_refusal(e)
            raise


class Parameter(Tensor, metaclass=_ParameterMeta):
    """A leaf over the memory of `data`, with which it shares its version; results of it are plain tensors.

    Raises: argument (TypeError: a flag that is no bool; AttributeError: data that are no tensor), grad (RuntimeError)
    for a dtype that has no gradient. Source: torch 2.13.

    >>> data = torch.tensor([1.0, 2.0])
    >>> Parameter(data)
    Parameter containing:
    tensor([1., 2.], requires_grad=True)
    >>> Parameter(data).data_ptr() == data.data_ptr(), type(Parameter(data) + 1) is torch.Tensor
    (True, True)
    """

    __slots__ = ()

    def __new__(cls, data: Any = None, requires_grad: bool = True) -> Self:
        """A parameter over a tensor's memory, or over no elements."""
        if data is None:
            data = empty(0)
        if not isinstance(data, TensorBase):
            raise LayoutAttributeError("argument", f"Parameter: a {type(data).__name__} cannot be detached")
        check_flag("requires_grad", requires_grad)
        if data.__class__ in (Tensor, Parameter) and not data.is_sparse:
            made: Self = make_subclass(cls, data, requires_grad)
            return made
        new: Any = data.detach()  # type: ignore[attr-defined]
        new._is_param = True
        set_requires_grad(new, requires_grad)
        return new  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        return "Parameter containing:\n" + super().__repr__()

    def __format__(self, spec: str) -> str:
        return object.__format__(self, spec)

    def __deepcopy__(self, memo: dict[int, Any]) -> "Parameter":
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.data.clone(memory_format=preserve_format), requires_grad(self))
        return memo[id(self)]  # type: ignore[no-any-return]

    def __copy__(self) -> "Parameter":
        rebuild, state = self.__reduce_ex__()
        return rebuild(*state)  # type: ignore[no-any-return]

    def __reduce_ex__(self, protocol: Any = None) -> Any:
        return rebuilt_parameter, (self.data, requires_grad(self), vars(self))


class _BufferMeta(type(Tensor)):  # type: ignore[misc]
    """Lets a tensor be a buffer by its attribute `_is_buffer`."""

    def __instancecheck__(cls, x: Any) -> bool:
        return super().__instancecheck__(x) or (
            cls is Buffer and isinstance(x, TensorBase) and getattr(x, "_is_buffer", False)
        )


class Buffer(Tensor, metaclass=_BufferMeta):
    """A tensor over the memory of `data`, with its version, that is marked as a module's own, and no parameter.

    Raises: argument (AttributeError: data that are no tensor), grad. Source: torch 2.13.

    >>> buffer = Buffer(torch.ones(2), persistent=False)
    >>> isinstance(buffer, Buffer), type(buffer) is torch.Tensor, buffer.persistent
    (True, True, False)
    """

    __slots__ = ()

    def __new__(cls, data: Any = None, *, persistent: bool = True) -> Any:
        """A marked tensor, no instance of this class."""
        if data is None:
            data = empty(0)
        if not isinstance(data, TensorBase):
            raise LayoutAttributeError("argument", f"Buffer: a {type(data).__name__} cannot be detached")
        new: Any = data.detach()  # type: ignore[attr-defined]
        set_requires_grad(new, requires_grad(data))
        new.persistent = persistent
        new._is_buffer = True
        return new


def rebuilt_parameter(data: Any, requires_grad: bool, attributes: dict[str, Any]) -> Parameter:
    """A parameter put together again, with its attributes."""
    new = Parameter(data, requires_grad)
    vars(new).update(attributes)
    return new
