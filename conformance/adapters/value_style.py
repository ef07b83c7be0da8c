"""Mixin for libraries that show elements and no memory: nothing is claimed of strides, sharing or storages.

Inputs are views of a row of elements, so that a library's own views are what is tested where it has lazy ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from math import prod
from typing import Any

from ..idiom import compile_template, print_template
from ..program import ITEMSIZES, Input, Ref, Slice, Step, Storage
from ..protocol import Unsupported
from ..view_chain import as_view_chain, needed_length
from .table_style import TableStyle

ASPECTS = frozenset({"raises", "shape", "values"})
"""Aspects of a library whose arrays are values; which of two wrong arguments is found first is nobody's promise."""
FEATURES = frozenset({"free-strides", "index-check"})
"""Features of one: it shows the elements of any layout that views reach; what it does with indices outside counts."""


CHECKS = {
    "shape": "(str({x}.dtype), list({x}.shape))",
    "values": "repr({x}.tolist())",
}
"""Expressions that scripts compare with what should be."""


class ValueStyle(TableStyle):
    """Drives a library whose arrays are values; a subclass adds `row`, `host`, `is_tensor` and `dtype_of`."""

    observes_storage = False
    checks: Mapping[str, str] = CHECKS
    row: str
    """A row of elements in the library's idiom, from `{data}` (bytes) and `{dtype}`."""

    def host(self, x: Any) -> bytes:
        """Elements of an array, row-major and little-endian."""
        raise NotImplementedError

    def dtype_of(self, x: Any) -> Any:
        """The library's dtype of an array."""
        return x.dtype

    @cached_property
    def _make_row(self) -> Callable[..., Any]:
        return compile_template(self.row, ("data", "dtype"), self.scope())

    def storage(self, data: Any, backing: str) -> bytes:
        """The bytes alone: inputs of one storage do not share it."""
        return bytes(data)

    def tensor(self, storage: bytes, dtype: str, shape: tuple[int, ...], strides: tuple[int, ...], offset: int) -> Any:
        """A view of the storage's elements, reached by the library's own view operations."""
        length = needed_length(shape, strides, offset)
        chain = as_view_chain(shape, strides, offset, length)
        if chain is None:
            raise Unsupported("layout:no view reaches it")
        nbytes = length * ITEMSIZES[dtype]
        x = self._make_row(storage.ljust(nbytes, b"\0")[:nbytes], self.dtype(dtype))
        for step in chain:
            function = self.operation(step)
            if function is None:
                raise Unsupported(f"op:{step.op}")
            x = function(x, self._argument(step))
        return x

    def _argument(self, step: Step) -> Any:
        """The one argument of a step of a chain, as the library wants it."""
        argument = step.args[1]
        if step.op != "__getitem__":
            return argument
        items = argument if isinstance(argument, tuple) else (argument,)
        return self.index(tuple([slice(i.start, i.stop, i.step) if isinstance(i, Slice) else i for i in items]))

    def describe(self, x: Any) -> tuple[str, tuple[int, ...], None, None, str, None, None]:
        """The dtype and the shape: no more is shown."""
        dtype = self.dtype_of(x)
        return self._dtype_names.get(dtype, str(dtype)), tuple(x.shape), None, None, "---", None, None

    def storage_of(self, x: Any) -> Any:
        """Not called: no storage is seen."""
        raise NotImplementedError

    def bytes_of(self, storage: Any) -> bytes:
        """Not called: no storage is seen."""
        raise NotImplementedError

    def read(self, x: Any) -> bytes:
        """Elements, row-major; of a dtype without a name here, which cannot be decoded, a byte for each."""
        return self.host(x) if self.dtype_of(x) in self._dtype_names else bytes(prod(x.shape))

    def write_storage(self, name: str, storage: Storage, data: str) -> str:
        """Source that makes a storage from the bytes expression `data`."""
        return f"{name} = bytes({data})"

    def write_input(self, name: str, item: Input, storage: str) -> str:
        """Source that makes an input: a row, and the views that lead to the layout."""
        length = needed_length(item.shape, item.strides, item.offset)
        nbytes = length * ITEMSIZES[item.dtype]
        data = f"{storage}.ljust({nbytes}, bytes(1))[:{nbytes}]"
        lines = [print_template(self.row, {"data": data, "dtype": self.write_dtype(item.dtype)}, str)]
        for step in as_view_chain(item.shape, item.strides, item.offset, length) or ():
            template = self.template(step) or ""
            places = {"0": Ref(0), "1": step.args[1]}
            lines.append(print_template(template, places, lambda a: self.write(a, lambda _: name)))
        return "; ".join(f"{name} = {line}" for line in lines)
