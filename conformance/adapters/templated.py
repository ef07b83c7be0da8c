"""What libraries that are driven by templates share: dtypes by name, and a compiled function for each form of step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..idiom import compile_template, is_possible
from ..operations import overload
from ..program import Step


class Templated:
    """Compiles templates and keeps them; a subclass says which a step has, and what the names in it mean."""

    def __init__(self, namespace: Any, dtypes: Mapping[str, Any]) -> None:
        self.namespace = namespace
        self._dtypes = dict(dtypes)
        self._dtype_names = {dtype: name for name, dtype in self._dtypes.items()}
        self._functions: dict[tuple[str, int, tuple[str, ...]], Callable[..., Any] | None] = {}

    def scope(self) -> dict[str, Any]:
        """What the names in templates mean."""
        raise NotImplementedError

    def template(self, step: Step) -> str | None:
        """The step's expression in the library's idiom; None where there is none."""
        raise NotImplementedError

    def operation(self, step: Step) -> Callable[..., Any] | None:
        """The compiled template of a step, cached by its form."""
        names = tuple([name for name, _ in step.kwargs])
        form = (overload(step), len(step.args), names)
        if form not in self._functions:
            template = self.template(step)
            function = None
            if template is not None and is_possible(template):
                places = (*(str(i) for i in range(len(step.args))), *names)
                function = self.guard(compile_template(template, places, self.scope()))
            self._functions[form] = function
        return self._functions[form]

    def guard(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """What is called in the place of a compiled template: by default itself."""
        return function

    def mark(self, storage: Any, shadow: bytes | None) -> None:
        """A real library marks nothing."""

    def dtype(self, name: str) -> Any:
        """The dtype of PyTorch's name."""
        return self._dtypes[name]

    def index(self, items: tuple[Any, ...]) -> Any:
        """An index of one item is written without a tuple, as people do."""
        return items[0] if len(items) == 1 else items
