"""JAX on the CPU, 64-bit types on: arrays are values, and out-of-range indices clamp."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import numpy
from jax import numpy as jnp

from ..capabilities import Capabilities
from ..discovery import without_variants
from .numpy_style import numpy_like
from .table_style import dtypes_of, takes_by
from .value_style import ASPECTS, FEATURES, ValueStyle

DTYPES = {"bool": jnp.bool_} | dtypes_of(jnp, (
    "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64",
    "float16", "bfloat16", "float32", "float64", "complex64", "complex128",
    "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu",
))  # fmt: skip

_WITHOUT = "__setitem__ fill_ zero_ copy_ add_ sub_ mul_ relu_ as_strided contiguous unfold view.dtype"


class Jax(ValueStyle):
    """JAX without jit; arrays are immutable, so nothing that writes is offered."""

    name = "jax"
    ports: Mapping[str, str] = takes_by("jax.dlpack.from_dlpack", buffer="jnp.asarray", interface="jnp.asarray")
    tensor_type = jax.Array
    prefix = "jnp"
    imports = "import jax, jax.numpy as jnp\njax.config.update('jax_enable_x64', True)"
    templates: Mapping[str, str] = numpy_like("jnp", _WITHOUT) | {
        "view": "{self}.reshape({size})",
        "view_as": "{self}.reshape({other}.shape)",
        "clone": "jnp.copy({self})",
        "type": "{self}.astype({dtype!})",
        "softmax": "jax.nn.softmax({self}, {dim})",
        "argsort": "jnp.argsort({self}, {dim}, stable={stable}, descending={descending})",
    }
    row = "jnp.frombuffer({data}, {dtype})"
    capabilities = Capabilities(frozenset(DTYPES), FEATURES, ASPECTS)
    forks = False  # its threads do not survive a fork, as its documentation warns

    def __init__(self) -> None:
        jax.config.update("jax_enable_x64", True)
        super().__init__(jnp, {name: jnp.dtype(kind) for name, kind in DTYPES.items()})

    def scope(self) -> dict[str, Any]:
        """Some functions are outside of `jax.numpy`."""
        return super().scope() | {"jax": jax}

    def versions(self) -> dict[str, str]:
        """Versions that can change a verdict."""
        return {"jax": jax.__version__}

    def host(self, x: Any) -> bytes:
        """Elements of an array, without those that an array keeps on the host once it was read there."""
        fresh = jax.make_array_from_single_device_arrays(x.shape, x.sharding, [x])
        return numpy.asarray(fresh).tobytes("C")


adapter = without_variants("jax", Jax)
