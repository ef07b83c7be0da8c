"""Devices: the reference lives on the CPU alone."""

from typing import Any

from .errors import LayoutError


class device:  # noqa: N801 - PyTorch's own name
    """A place where memory lies, by PyTorch's name for it."""

    __slots__ = ("index", "type")

    def __init__(self, type: "str | device", index: int | None = None) -> None:
        if isinstance(type, device):
            type, index = type.type, type.index
        elif ":" in type:
            type, _, number = type.partition(":")
            index = int(number)
        self.type = type
        self.index = index

    def __repr__(self) -> str:
        return (
            f"device(type='{self.type}')"
            if self.index is None
            else f"device(type='{self.type}', index={self.index})"
        )

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, device) and (self.type, self.index) == (other.type, other.index)

    def __hash__(self) -> int:
        return hash((self.type, self.index))


cpu = device("cpu")


def check_device(where: Any) -> None:
    """Refuse any device but the CPU.

    Raises: device (RuntimeError).
    """
    if where is not None and where is not cpu and device(where).type != "cpu":
        raise LayoutError("device", f"the reference lives on the CPU, got device {where}")
