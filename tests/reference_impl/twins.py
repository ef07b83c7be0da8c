"""Twins: the same inputs on torch and on the reference, the same step on both, and what differs afterwards.

A `Pair` holds the live values of both sides in parallel lists. `Pair.step` runs one Python expression on each side and
returns the first difference it can see, or None.
"""

import ctypes
import random
import warnings

import numpy as np
import stridecheck.reference_impl as ref
import torch
from stridecheck.reference_impl import shadow
from stridecheck.reference_impl.layout import Layout

BASES = (NotImplementedError, BufferError, IndexError, TypeError, ValueError, AssertionError, RuntimeError)


def words(text):
    """The words of a text, for lists of names."""
    return text.split()


def base_of(error):
    """The builtin type of an exception, ours or torch's."""
    return next((b for b in BASES if isinstance(error, b)), type(error))


def short(error):
    """An error in one line; torch appends its stack to some."""
    return f"{type(error).__name__}: {str(error).splitlines()[0][:160] if str(error) else ''}"


def random_layout(rng, max_ndim=4, max_len=4, allow_overlap=True, shape=None):
    """A layout of a random family: dense, permuted, stepped, padded, offset, expanded, overlapping, channels-last."""
    if shape is None:
        ndim = rng.randint(0, max_ndim)
        shape = [rng.choice([1, 2, 3, max_len]) for _ in range(ndim)]
        if ndim and rng.random() < 0.07:
            shape[rng.randrange(ndim)] = 0
    shape = list(shape)
    ndim = len(shape)
    family = rng.choice(
        ["dense", "dense", "permuted", "permuted", "stepped", "padded", "expanded", "overlap", "cl", "free1"]
    )
    order = list(range(ndim))
    if family != "dense":
        rng.shuffle(order)
    if family == "cl" and ndim in (4, 5):
        order = [0, *range(2, ndim), 1]
    strides = [0] * ndim
    step = 1
    for d in reversed(order):
        strides[d] = step
        n = max(shape[d], 1)
        step *= n
        if family == "stepped" and rng.random() < 0.5:
            strides[d] *= 2
            step *= 2
        if family == "padded":
            step += rng.randint(0, 2)
    if family == "expanded" and ndim:
        strides[rng.randrange(ndim)] = 0
    if family == "overlap" and allow_overlap:
        for d in range(ndim):
            if rng.random() < 0.5:
                strides[d] = rng.randint(0, 3)
    if family == "free1" or rng.random() < 0.1:
        for d in range(ndim):
            if shape[d] == 1:
                strides[d] = rng.choice([0, 1, 2, 7])
    offset = rng.choice([0, 0, 0, 1, 2, 5])
    return Layout(tuple(shape), tuple(strides), offset)


def flag(x, name):
    """A flag of history, or that it is refused: a view among several whose base was written has none."""
    try:
        return getattr(x, name)
    except RuntimeError:
        return "refused"


class Pair:
    """The live values of both sides, and which storages correspond."""

    def __init__(self):
        self.t, self.r = [], []
        self.storages = {}
        self.keep = []

    def add(self, layout, dtype="float32", storage=None, requires_grad=False, fill="ramp"):
        """One more input on both sides, over new or shared memory; its index."""
        td, rd = getattr(torch, dtype), getattr(ref, dtype)
        if storage is None:
            need = layout.required_bytes(rd.itemsize)
            nbytes = need + rd.itemsize * 3
            data = self.bytes(nbytes // rd.itemsize, rd, fill)
            ts = torch.UntypedStorage(list(data))
            rs = ref.UntypedStorage(list(data))
            self.link(ts, rs)
        else:
            ts, rs = self.t[storage].untyped_storage(), self.r[storage].untyped_storage()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tt = torch.empty(0, dtype=td).set_(ts, layout.offset, layout.shape, layout.strides).data
        rr = ref.empty(0, dtype=rd).set_(rs, layout.offset, layout.shape, layout.strides).data
        if requires_grad:
            tt.requires_grad_()
            rr.requires_grad_()
        self.t.append(tt)
        self.r.append(rr)
        return len(self.t) - 1

    @staticmethod
    def bytes(count, d, fill):
        values = np.arange(count) % 23 - 3 if fill == "ramp" else np.full(count, 2)
        if d.numpy.kind == "b":
            values = values % 2
        if d.numpy.kind == "u" or d.name == "complex32" or d.category == "raw":
            values = values % 23
        return values.astype(d.numpy).tobytes()

    def link(self, ts, rs):
        self.storages[ts._cdata] = rs
        self.keep.append((ts, rs))

    def step(self, expression, **arguments):
        """Run an expression over `T` (the library) and `v` (the live values); the first difference, or None."""
        results = []
        for lib, live in ((torch, self.t), (ref, self.r)):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    results.append((eval(expression, {"T": lib, "v": live, **arguments}), None))
                except Exception as e:
                    results.append((None, e))
        (tv, te), (rv, re_) = results
        if (te is None) != (re_ is None):
            return f"raises: torch {short(te)} against {short(re_)}"
        difference = None
        if te is not None:
            if base_of(te) is not base_of(re_):
                return f"error type: torch {short(te)} against {short(re_)}"
            if not hasattr(re_, "kind"):
                return f"error without a kind: {re_!r} (torch {short(te)})"
        else:
            difference = self.compare(tv, rv)
        return difference or self.compare_live() or self.compare_bytes()

    def compare(self, tv, rv):
        if isinstance(tv, (tuple, list)) and not isinstance(tv, torch.Size):
            if not isinstance(rv, (tuple, list)) or len(tv) != len(rv):
                return f"length: torch {len(tv)} against {rv!r}"
            for a, b in zip(tv, rv, strict=True):
                found = self.compare(a, b)
                if found:
                    return found
            return None
        if not isinstance(tv, torch.Tensor):
            if isinstance(tv, torch.Size):
                tv = tuple(tv)
            same = tv == rv or (tv != tv and rv != rv)
            if isinstance(tv, (torch.dtype, torch.memory_format, torch.device, torch.layout)):
                same = str(tv) == str(rv)
            return None if same else f"value: torch {tv!r} against {rv!r}"
        if not isinstance(rv, ref.Tensor):
            return f"not a tensor: {rv!r}"
        same_t = next((i for i, x in enumerate(self.t) if x is tv), None)
        same_r = next((i for i, x in enumerate(self.r) if x is rv), None)
        if same_t != same_r:
            return f"identity: torch is value {same_t}, reference is value {same_r}"
        if same_t is None:
            ts, rs = tv.untyped_storage(), rv.untyped_storage()
            known = self.storages.get(ts._cdata)
            if known is None:
                if any(rs is b for _, b in self.keep):
                    return "sharing: torch copied, the reference shares"
                self.link(ts, rs)
            elif known is not rs:
                return "sharing: torch shares, the reference copied"
            self.t.append(tv)
            self.r.append(rv)
        return None

    def compare_live(self):
        for i, (a, b) in enumerate(zip(self.t, self.r, strict=True)):
            found = self.facts(a, b)
            if found:
                return f"value {i}: {found}"
        return None

    def facts(self, a, b):
        ts, rs = a.untyped_storage(), b.untyped_storage()
        if ts._cdata not in self.storages and all(rs is not known for _, known in self.keep):
            self.link(ts, rs)
        pairs = [
            ("dtype", str(a.dtype), str(b.dtype)),
            ("shape", tuple(a.shape), tuple(b.shape)),
            ("strides", a.stride(), b.stride()),
            ("offset", a.storage_offset(), b.storage_offset()),
            ("contiguous", a.is_contiguous(), b.is_contiguous()),
            ("version", a._version, b._version),
            ("requires_grad", a.requires_grad, b.requires_grad),
            ("is_leaf", flag(a, "is_leaf"), flag(b, "is_leaf")),
            ("is_conj", a.is_conj(), b.is_conj()),
            ("is_neg", a.is_neg(), b.is_neg()),
            ("is_view", a._is_view(), b._is_view()),
            ("storage", self.storages.get(a.untyped_storage()._cdata) is b.untyped_storage(), True),
            ("has address", a.data_ptr() != 0, b.data_ptr() != 0),
            ("base", next((i for i, x in enumerate(self.t) if x is a._base), None),
             next((i for i, x in enumerate(self.r) if x is b._base), None)),
        ]  # fmt: skip
        for name, x, y in pairs:
            if x != y:
                return f"{name}: torch {x} against {y}"
        for format in ("channels_last", "channels_last_3d"):
            x = a.is_contiguous(memory_format=getattr(torch, format))
            y = b.is_contiguous(memory_format=getattr(ref, format))
            if x != y:
                return f"{format}: torch {x} against {y}"
        return None

    def compare_bytes(self):
        for ts, rs in self.keep:
            if ts.nbytes() != rs.nbytes():
                return f"storage length: torch {ts.nbytes()} against {rs.nbytes()}"
            if not ts.nbytes():
                continue
            a = np.frombuffer(ctypes.string_at(ts.data_ptr(), ts.nbytes()), np.uint8)
            b = rs._bytes
            wrong = a != b
            if rs._shadow is not None:
                wrong &= rs._shadow == 0
            if wrong.any():
                at = int(wrong.argmax())
                return f"storage byte {at}: torch {a.tolist()} against {b.tolist()}"
        for i, (a, b) in enumerate(zip(self.t, self.r, strict=True)):
            if b._storage._shadow is None or not b.numel() or b.dtype.category not in ("float", "complex"):
                continue
            found = self.within_tolerance(a, b)
            if found:
                return f"value {i}: {found}"
        return None

    @staticmethod
    def within_tolerance(a, b):
        layout = b._layout
        marks = shadow.element_marks(b._storage._shadow, layout, b.dtype)
        if layout.required_bytes(b.itemsize) > len(b._storage._bytes):
            return None
        raw = np.frombuffer(ctypes.string_at(a.untyped_storage().data_ptr(), a.untyped_storage().nbytes()), np.uint8)
        it = b.itemsize
        wide = np.complex128 if b.dtype.is_complex else np.float64
        x = np.ndarray(layout.shape, b.dtype.numpy, raw.tobytes(), layout.offset * it, [s * it for s in layout.strides])
        y = np.ndarray(
            layout.shape,
            b.dtype.numpy,
            b._storage._bytes.tobytes(),
            layout.offset * it,
            [s * it for s in layout.strides],
        )
        with np.errstate(all="ignore"):
            x, y = x.astype(wide), y.astype(wide)
        rtol = {"float16": 4e-3, "bfloat16": 3e-2, "float32": 2e-5, "complex64": 2e-5}.get(b.dtype.name, 1e-9)
        if b.dtype.name.startswith("float8"):
            rtol = 0.3
        with np.errstate(all="ignore"):
            close = np.isclose(x, y, rtol=rtol, atol=rtol, equal_nan=True)
        bad = ~close & (marks == shadow.TOLERANCE) | (np.isnan(x) != np.isnan(y)) & (marks == shadow.NAN)
        if bad.any():
            return f"tolerance: torch {x[bad][:4]} against {y[bad][:4]}"
        return None


def fuzz(seed, count, draw, steps=3):
    """Run `count` random programs; `draw(rng, pair)` answers one expression and its arguments. Differences found."""
    found = []
    for n in range(count):
        rng = random.Random(f"{seed}-{n}")
        pair = Pair()
        history = []
        try:
            for _ in range(rng.randint(1, steps)):
                expression, arguments = draw(rng, pair)
                history.append((expression, arguments))
                difference = pair.step(expression, **arguments)
                if difference:
                    raise AssertionError(difference)
        except AssertionError as e:
            inputs = [(str(x.dtype), tuple(x.shape), x.stride(), x.storage_offset()) for x in pair.r]
            found.append(f"program {seed}-{n}: {history}\n   {inputs}\n   {e}")
            if len(found) >= 5:
                break
    return found
