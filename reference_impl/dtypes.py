"""PyTorch's dtypes over NumPy's and ml_dtypes'.

A dtype that no library has arithmetic for is held as raw integers of its width: it can be viewed and moved, not
computed. So are bfloat16 and float8 where ml_dtypes is not installed (`LACKING`).
"""

from typing import Any, Final, Literal

import numpy as np

from .errors import LayoutError

try:
    import ml_dtypes
except ImportError:
    ml_dtypes = None  # type: ignore[assignment]

Category = Literal["bool", "int", "float", "complex", "raw"]


class dtype:  # noqa: N801 - PyTorch's own name
    """One of PyTorch's element types; the instances in this module are all there are.

    Units: `itemsize` in bytes. Source: facts 1.21, torch 2.13.
    """

    __slots__ = (
        "_signed",
        "category",
        "is_complex",
        "is_floating_point",
        "itemsize",
        "name",
        "numpy",
        "pack",
    )

    def __init__(self, name: str, numpy: Any, category: Category, *, signed: bool = True, pack: int = 1) -> None:
        self.name: Final = name
        self.numpy: Final[np.dtype[Any]] = np.dtype(numpy)
        self.itemsize: Final = self.numpy.itemsize
        self.category: Final = category
        self.is_floating_point: Final = category == "float" or name.startswith("float")
        self.is_complex: Final = category == "complex" or name == "complex32"
        self._signed: Final = signed
        # Elements per byte in a fresh storage of the packed quantised dtypes (facts 1.21).
        self.pack: Final = pack
        ALL[name] = self

    def __repr__(self) -> str:
        return "torch." + self.name

    def __reduce__(self) -> str:
        return "bool_" if self.name == "bool" else self.name

    @property
    def is_signed(self) -> bool:
        """Whether there are negative values. Raises: dtype (RuntimeError) for codes."""
        if self in QUANTIZED:
            raise LayoutError("dtype", f"is_signed of {self}: codes are no numbers (facts 10.1.8)")
        return self._signed

    def to_real(self) -> "dtype":
        """The dtype of the real part."""
        return {"complex64": float32, "complex128": float64, "complex32": float16}.get(self.name, self)

    def to_complex(self) -> "dtype":
        """The complex dtype with parts of this dtype, of bfloat16 a wider one. Raises: dtype (RuntimeError).

        >>> float16.to_complex(), complex64.to_complex()
        (torch.complex32, torch.complex64)
        """
        if self.is_complex:
            return self
        wider = {"float32": complex64, "float64": complex128, "float16": complex32, "bfloat16": complex64}
        found = wider.get(self.name)
        if found is None:
            raise LayoutError("dtype", f"there are no complex numbers of {self}")
        return found


ALL: Final[dict[str, dtype]] = {}
LACKING: Final[set[str]] = set()
"""Names of the dtypes whose numbers are not known here; programs of theirs are not judged."""
finfo: Final[Any] = np.finfo if ml_dtypes is None else ml_dtypes.finfo
"""Limits of floats, as NumPy has them, of all dtypes that are known here."""


def _of_ml_dtypes(name: str, raw: type[np.generic]) -> dtype:
    if not hasattr(ml_dtypes, name):
        LACKING.add(name)
        return dtype(name, raw, "raw")
    return dtype(name, getattr(ml_dtypes, name), "float")


bool_ = dtype("bool", np.bool_, "bool", signed=False)
uint8 = dtype("uint8", np.uint8, "int", signed=False)
int8 = dtype("int8", np.int8, "int")
uint16 = dtype("uint16", np.uint16, "int", signed=False)
int16 = dtype("int16", np.int16, "int")
uint32 = dtype("uint32", np.uint32, "int", signed=False)
int32 = dtype("int32", np.int32, "int")
uint64 = dtype("uint64", np.uint64, "int", signed=False)
int64 = dtype("int64", np.int64, "int")
float16 = dtype("float16", np.float16, "float")
bfloat16 = _of_ml_dtypes("bfloat16", np.uint16)
float32 = dtype("float32", np.float32, "float")
float64 = dtype("float64", np.float64, "float")
complex32 = dtype("complex32", np.uint32, "raw")
complex64 = dtype("complex64", np.complex64, "complex")
complex128 = dtype("complex128", np.complex128, "complex")
float8_e4m3fn = _of_ml_dtypes("float8_e4m3fn", np.uint8)
float8_e4m3fnuz = _of_ml_dtypes("float8_e4m3fnuz", np.uint8)
float8_e5m2 = _of_ml_dtypes("float8_e5m2", np.uint8)
float8_e5m2fnuz = _of_ml_dtypes("float8_e5m2fnuz", np.uint8)
float8_e8m0fnu = _of_ml_dtypes("float8_e8m0fnu", np.uint8)
float4_e2m1fn_x2 = dtype("float4_e2m1fn_x2", np.uint8, "raw")
uint1, uint2, uint3, uint4, uint5, uint6, uint7 = (
    dtype(f"uint{n}", np.uint8, "raw", signed=False) for n in range(1, 8)
)
int1, int2, int3, int4, int5, int6, int7 = (dtype(f"int{n}", np.int8, "raw") for n in range(1, 8))
bits1x8, bits2x4, bits4x2, bits8 = (
    dtype(n, np.uint8, "raw", signed=False) for n in ("bits1x8", "bits2x4", "bits4x2", "bits8")
)
bits16 = dtype("bits16", np.uint16, "raw", signed=False)
quint8 = dtype("quint8", np.uint8, "raw", signed=False)
qint8 = dtype("qint8", np.int8, "raw")
qint32 = dtype("qint32", np.int32, "raw")
quint4x2 = dtype("quint4x2", np.uint8, "raw", signed=False, pack=2)
quint2x4 = dtype("quint2x4", np.uint8, "raw", signed=False, pack=4)

FLOAT8: Final = frozenset((float8_e4m3fn, float8_e4m3fnuz, float8_e5m2, float8_e5m2fnuz, float8_e8m0fnu))
# Dtypes without arithmetic kernels in PyTorch; uint64 has some (facts 11).
BARE_UINT: Final = frozenset((uint16, uint32, uint64))
SUB_BYTE: Final = frozenset((uint1, uint2, uint3, uint4, uint5, uint6, uint7, int1, int2, int3, int4, int5, int6, int7))
BITS: Final = frozenset((bits1x8, bits2x4, bits4x2, bits8, bits16))
QUANTIZED: Final = frozenset((quint8, qint8, qint32, quint4x2, quint2x4))
LARGEST: Final = {d: float(finfo(d.to_real().numpy).max) for d in ALL.values() if d.category == "float" or d.is_complex}
"""What a float, or a part of a complex number, is at most."""

Group = Literal["b", "i", "u", "f", "c", "h", "8", "e", "4", "r"]
_GROUP_OF_CATEGORY: Final[dict[Category, Group]] = {"bool": "b", "int": "i", "float": "f", "complex": "c", "raw": "r"}


def group_of(d: dtype) -> Group:
    """Letter of the dtypes that PyTorch's kernels mostly take or refuse together.

    b bool, i integers that have arithmetic, u wide unsigned ones, f floats, c complex, h complex32, 8 float8,
    e float8_e8m0fnu, 4 float4_e2m1fn_x2, which is only compared, r what is only stored. Source: facts 11, torch 2.13.

    >>> group_of(int8), group_of(uint32), group_of(float8_e5m2)
    ('i', 'u', '8')
    """
    if d in BARE_UINT:
        return "u"
    if d in FLOAT8:
        return "e" if d is float8_e8m0fnu else "8"
    if d is float4_e2m1fn_x2:
        return "4"
    return "h" if d is complex32 else _GROUP_OF_CATEGORY[d.category]
