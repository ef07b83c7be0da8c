"""Draws what is done to images and their like: convolution, pooling, normalisation, padding, resampling, shuffles."""

from __future__ import annotations

from ..program import Argument, Step
from .stage import ALL, NUMBERS, REAL, Scene, Stage, on, step
from .steps import ODD


def _image(stage: Stage, rank: int, channels: int | None = None, most: int = 5) -> tuple[int, ...]:
    """A shape (batch, channels, …) of so many dimensions of space, rarely without a batch."""
    source = stage.source
    count = source.choice((1, 2, 3, 4)) if channels is None else channels
    space = tuple([source.integer(2, most if rank < 3 else 3) for _ in range(rank)])
    if source.chance(8):
        space = (*space[:-1], 1)
    return (count, *space) if source.chance(12) else (0 if source.chance(2) else source.integer(1, 2), count, *space)


def _batch(stage: Stage) -> tuple[int, ...]:
    """One dimension before the channels, at times several or none."""
    source = stage.source
    return tuple([source.integer(1, 2) for _ in range(source.choice((0, 2, 3)) if source.chance(25) else 1)])


def _pixels(stage: Stage, shape: tuple[int, ...], *, tame: bool = False) -> Argument:
    """A tensor of that shape, often channels-last."""
    kind = "channels-last" if len(shape) in (4, 5) and stage.source.chance(40) else None
    return stage.tensor(shape, kind=kind, tame=tame)


def _convolution(rank: int) -> Scene:
    def draw(stage: Stage) -> Step:
        source = stage.source
        groups = 2 if source.chance(20) else 1
        channels, out = groups * source.integer(1, 2), groups * source.integer(1, 2)
        shape = _image(stage, rank, channels)
        kernel = tuple([source.integer(1, 2 if rank > 1 else 3) for _ in range(rank)])
        inside = channels // groups + source.chance(ODD // 2)
        operands = [_pixels(stage, shape), _pixels(stage, (out, inside, *kernel))]
        if source.chance(40):
            operands.append(stage.tensor((out,)))
        keywords: dict[str, Argument] = {"groups": groups} if groups > 1 else {}
        for name, low, high in (("stride", 1, 2), ("padding", 0, 1), ("dilation", 1, 2)):
            if source.chance(25):
                keywords[name] = source.integer(low, high)
        if keywords.get("stride", 1) == 1 and source.chance(10):
            keywords["padding"] = source.choice(("same", "valid"))
        return step(f"conv{rank}d", *operands, **keywords)

    return on(REAL[1:2] if rank == 3 else REAL[:3], draw)


def _transposed(rank: int) -> Scene:
    def draw(stage: Stage) -> Step:
        source = stage.source
        channels, out = source.integer(1, 3), source.integer(1, 3)
        shape = _image(stage, rank, channels, most=3)
        kernel = tuple([source.integer(1, 2) for _ in range(rank)])
        operands = [_pixels(stage, shape), _pixels(stage, (channels, out, *kernel))]
        keywords: dict[str, Argument] = {"stride": 2} if source.chance(40) else {}
        if channels > 1 and source.chance(30):
            keywords["groups"] = channels
        if source.chance(30):
            # Less than the stride is added to one side.
            keywords["output_padding"] = source.integer(0, 1)
        if source.chance(20):
            keywords["padding"] = 1
        if source.chance(30):
            operands.append(stage.tensor((out * (channels if "groups" in keywords else 1),)))
        return step(f"conv_transpose{rank}d", *operands, **keywords)

    return on(REAL[:2], draw)


def _pooled(name: str, rank: int) -> Scene:
    def draw(stage: Stage) -> Step:
        source = stage.source
        kernel = source.integer(1, 3) if source.chance(70) else tuple([source.integer(1, 2) for _ in range(rank)])
        keywords: dict[str, Argument] = {}
        if source.chance(40):
            keywords["stride"] = source.integer(1, 2)
        if source.chance(30):
            keywords["ceil_mode"] = True
        if name == "max" and source.chance(40):
            keywords["return_indices"] = True
        room = 0
        if name == "max" and source.chance(25):
            # As much more as the kernel, spread, reaches over.
            keywords["dilation"], room = 2, 0 if source.chance(ODD) else 2
        if name == "lp":
            return step("nn.functional.lp_pool2d", _pixels(stage, _image(stage, rank)), 2, kernel, **keywords)
        if source.chance(40):
            # At most half of the kernel.
            fits = kernel in (2, 3, (2,) * rank)
            keywords["padding"] = 1 if fits or source.chance(ODD) else 0
            if name == "avg" and source.chance(40):
                keywords["count_include_pad"] = False
        shape = _image(stage, rank)
        shape = (*shape[:-rank], *[n + room for n in shape[-rank:]])
        return step(f"nn.functional.{name}_pool{rank}d", _pixels(stage, shape), kernel, **keywords)

    return on(REAL[:2] if name == "lp" else REAL[:3], draw)


def _adapted(name: str, rank: int) -> Scene:
    def draw(stage: Stage) -> Step:
        source = stage.source
        size = 1 if source.chance(35) else source.integer(1, 3)
        output = size if rank == 1 or source.chance(50) else tuple([source.integer(1, 3) for _ in range(rank)])
        keywords: dict[str, Argument] = {"return_indices": True} if name == "max" and source.chance(40) else {}
        operand = _pixels(stage, _image(stage, rank))
        return step(f"nn.functional.adaptive_{name}_pool{rank}d", operand, output, **keywords)

    return on(REAL[:2], draw)


def _batch_norm(stage: Stage) -> Step:
    source = stage.source
    channels = source.integer(1, 4)
    shape = _image(stage, source.integer(0, 3), channels)
    if len(shape) == 1:
        shape = (2, channels)
    x = _pixels(stage, shape, tame=True)
    moments: list[Argument] = [None, None]
    if source.chance(60):
        moments = [stage.tensor((channels,), grad=False), stage.tensor((channels,), grad=False)]
    keywords: dict[str, Argument] = {"training": True} if moments[0] is None or source.chance(40) else {}
    if source.chance(50):
        keywords["weight"] = stage.tensor((channels,))
        keywords["bias"] = stage.tensor((channels,))
    return step("nn.functional.batch_norm", x, *moments, **keywords)


def _normalised(stage: Stage) -> Step:
    source = stage.source
    which = source.integer(0, 9)
    channels = source.integer(1, 4)
    shape = _image(stage, source.integer(1, 2), channels)
    shape = shape if len(shape) > 2 else (2, *shape)
    x = _pixels(stage, shape, tame=True)
    if which < 3:
        groups = source.choice([g for g in (1, 2, 3, 4) if shape[1] % g == 0 or source.chance(ODD)] or [1])
        keywords = {"weight": stage.tensor((shape[1],)), "bias": stage.tensor((shape[1],))} if which == 0 else {}
        return step("nn.functional.group_norm", x, groups, **keywords)
    if which < 6:
        inside = shape[-source.integer(1, 2) :]
        scales = [stage.tensor(inside) for _ in range(source.integer(0, 2))]
        return step("nn.functional.layer_norm", x, inside, *scales)
    if which < 8:
        names = ("weight", "bias") if source.chance(40) else ()
        return step("nn.functional.instance_norm", x, **{name: stage.tensor((shape[1],)) for name in names})
    if which == 8:
        return step("nn.functional.local_response_norm", x, source.integer(1, 3))
    return step(
        "nn.functional.normalize",
        x,
        *([source.choice((1.0, 3.0))] if source.chance(40) else []),
        dim=source.integer(0, 1),
    )


def _padded(stage: Stage) -> Step:
    source = stage.source
    mode = source.choice(("constant", "constant", "reflect", "replicate", "circular"))
    rank = source.integer(1, 3)
    shape = _image(stage, rank)
    count = rank if mode != "constant" else source.integer(1, rank)
    least = -1 if source.chance(20) else 0
    pad = tuple([source.integer(least, 1) for _ in range(2 * count)])
    if source.chance(ODD // 2):
        pad = pad[1:]
    keywords: dict[str, Argument] = {"mode": mode} if mode != "constant" else {}
    if mode == "constant" and source.chance(30):
        keywords["value"] = 2.0
    return step("nn.functional.pad", _pixels(stage, shape), pad, **keywords)


def _resampled(stage: Stage) -> Step:
    source = stage.source
    rank = source.integer(1, 3)
    modes = {1: ("nearest", "nearest-exact", "linear", "area"), 3: ("nearest", "nearest-exact", "area"),
             2: ("nearest", "nearest-exact", "bilinear", "bicubic", "area")}  # fmt: skip
    shape = _image(stage, rank)
    shape = shape if len(shape) == rank + 2 else (1, *shape)
    mode = source.choice(modes[rank])
    keywords: dict[str, Argument] = {"mode": mode}
    if mode.endswith(("linear", "bicubic")) and source.chance(30):
        keywords["align_corners"] = True
    if source.chance(25):
        keywords["scale_factor"] = source.choice((2.0, 0.5, 1.5))
    else:
        keywords["size"] = tuple([source.integer(1, 5) for _ in range(rank)])
    return step("nn.functional.interpolate", _pixels(stage, shape), **keywords)


def _shuffled(stage: Stage) -> Step:
    source = stage.source
    kind = source.integer(0, 2)
    if kind == 0:
        channels = 4 if not source.chance(ODD) else 3
        return step(
            "nn.functional.pixel_shuffle", _pixels(stage, (*_batch(stage), channels, 2, source.integer(1, 3))), 2
        )
    if kind == 1:
        height = 4 if not source.chance(ODD) else 3
        shape = (*_batch(stage), source.integer(1, 3), height, 2)
        return step("nn.functional.pixel_unshuffle", _pixels(stage, shape), 2)
    channels = 4 if not source.chance(ODD) else 3
    shape = (source.integer(1, 2), channels, source.integer(1, 3), 2)
    return step("nn.functional.channel_shuffle", _pixels(stage, shape), 2)


def _windows(stage: Stage) -> Step:
    source = stage.source
    shape = (source.integer(1, 2), source.integer(1, 2), source.integer(2, 4), source.integer(2, 4))
    keywords: dict[str, Argument] = {"stride": 2} if source.chance(30) else {}
    for name in ("dilation", "padding"):
        if source.chance(25):
            keywords[name] = source.integer(1, 2)
    if source.chance(60):
        return step("nn.functional.unfold", _pixels(stage, shape), 2, **keywords)
    blocks = 1
    for size in (3, 3):
        reach = keywords.get("dilation", 1) + 1
        blocks *= max((size + 2 * keywords.get("padding", 0) - reach) // keywords.get("stride", 1) + 1, 1)
    return step("nn.functional.fold", stage.tensor((shape[0], 4 * shape[1], blocks)), (3, 3), 2, **keywords)


def _gated(stage: Stage) -> Step:
    source = stage.source
    shape = (source.integer(1, 3), 2 * source.integer(1, 2), source.integer(1, 3))
    return step("nn.functional.glu", stage.tensor(shape), 1)


IMAGES: tuple[tuple[int, Scene], ...] = (
    (6, _convolution(2)), (3, _convolution(1)), (2, _convolution(3)), (2, _transposed(2)), (1, _transposed(1)),
    (4, _pooled("max", 2)), (2, _pooled("max", 1)), (1, _pooled("max", 3)), (3, _pooled("avg", 2)),
    (1, _pooled("avg", 1)), (1, _pooled("avg", 3)), (1, _pooled("lp", 2)), (3, _adapted("avg", 2)),
    (1, _adapted("avg", 1)), (1, _adapted("avg", 3)), (2, _adapted("max", 2)), (1, _adapted("max", 1)),
    (5, on(REAL[:2], _batch_norm)), (5, on(REAL[:2], _normalised)), (6, on(ALL, _padded)),
    (4, on(REAL[:2], _resampled)), (4, on(NUMBERS, _shuffled)), (3, on(REAL[:2], _windows)), (1, on(REAL, _gated)),
)  # fmt: skip
"""(weight, how an operation and its operands are drawn)."""
