"""Programs that begin with an operation whose operands must fit each other: they and it are drawn together."""

from __future__ import annotations

from typing import NamedTuple

from ..program import Input, Step, Storage
from .alike import ALIKE
from .factories import FACTORIES
from .images import IMAGES
from .indexed import INDEXED
from .lengths import LONG
from .outs import OUTS
from .pairs import PAIRS
from .products import PRODUCTS
from .sequences import SEQUENCES
from .source import Source, weighted
from .stage import Scene

SCENES: tuple[tuple[int, tuple[tuple[int, Scene], ...]], ...] = (
    (20, PRODUCTS),
    (30, IMAGES),
    (30, INDEXED),
    (22, OUTS),
    (7, FACTORIES),
    (18, LONG),
    (50, PAIRS),
    (18, SEQUENCES),
    (16, ALIKE),
)
"""(weight, scenes with their own weights)."""


class DrawnScene(NamedTuple):
    """Storages, inputs over them, and the first steps, of which the last is what all is for."""

    storages: tuple[Storage, ...]
    inputs: tuple[Input, ...]
    steps: tuple[Step, ...]


def draw_scene(source: Source) -> DrawnScene:
    """Operands in all kinds of layouts, and the operation that they are for."""
    stage, step = weighted(source, weighted(source, SCENES))(source)
    return DrawnScene(tuple(stage.storages), tuple(stage.inputs), (*stage.steps, step))
