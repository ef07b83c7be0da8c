"""Memory formats: PyTorch's four names for orders of dimensions in memory."""


class memory_format:  # noqa: N801 - PyTorch's own name
    """An order of dimensions in memory; the four instances are all there are."""

    __slots__ = ("name", "rank")

    def __init__(self, name: str, rank: int | None) -> None:
        self.name = name
        self.rank = rank

    def __repr__(self) -> str:
        return "torch." + self.name

    def __reduce__(self) -> str:
        return self.name


contiguous_format = memory_format("contiguous_format", None)
channels_last = memory_format("channels_last", 4)
channels_last_3d = memory_format("channels_last_3d", 5)
preserve_format = memory_format("preserve_format", None)
