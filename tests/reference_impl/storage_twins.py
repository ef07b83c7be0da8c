"""Storages, tensors and arrays of torch's beside the reference's, and everything in which they may differ."""

import copy
import io
import pickle
import tempfile
import warnings
from pathlib import Path

import numpy as np
import stridecheck.reference_impl as ref
import torch

from .agreement import exception_type
from .twins import Pair, short


def load(lib, f):
    f.seek(0)
    return lib.load(f)


def save(lib, things):
    f = io.BytesIO()
    lib.save(things, f)
    return load(lib, f)


class Memory(Pair):
    """Twins that hold storages and arrays besides tensors."""

    def __init__(self):
        super().__init__()
        self.s, self.sr = [], []
        self.a, self.ar = [], []
        self.folder = None
        # Storages (of the reference) that something else reads by address: torch must not free them.
        self.aliased = set()

    def file(self, lib):
        """A file of each side's own, 20 bytes long at first."""
        if self.folder is None:
            self.folder = tempfile.TemporaryDirectory()
            for name in ("torch", "reference_impl"):
                (Path(self.folder.name) / name).write_bytes(bytes(range(20)))
        return str(Path(self.folder.name) / lib.__name__.rpartition(".")[2])

    def close(self):
        if self.folder is not None:
            self.folder.cleanup()

    def storage(self, data):
        ts, rs = torch.UntypedStorage(data), ref.UntypedStorage(data)
        self.link(ts, rs)
        self.s.append(ts)
        self.sr.append(rs)
        return len(self.s) - 1

    def array(self, a):
        self.a.append(a.copy())
        self.ar.append(a.copy())
        return len(self.a) - 1

    def fits(self, i):
        x = self.r[i]
        return 0 in x.shape or x._layout.required_bytes(x.itemsize) <= x.untyped_storage().nbytes()

    @staticmethod
    def within_tolerance(a, b):
        if b._layout.required_bytes(b.itemsize) > b.untyped_storage().nbytes():
            return None
        return Pair.within_tolerance(a, b)

    def array_exact(self, i):
        a = self.ar[i]
        return not any(b._shadow is not None and np.may_share_memory(b._bytes, a) for _, b in self.keep)

    def exact(self, storage):
        return storage._shadow is None

    def run(self, expression, **arguments):
        """`step` with storages `s`, arrays `a`, and the exceptions that storages raise."""
        results = []
        sides = ((torch, self.t, self.s, self.a), (ref, self.r, self.sr, self.ar))
        for lib, live, storages, arrays in sides:
            scope = {
                "T": lib, "U": lib.UntypedStorage, "TS": lib.TypedStorage, "v": live, "s": storages, "a": arrays,
                "p": lambda lib=lib: self.file(lib), "np": np, "copy": copy, "pickle": pickle,
                "save": lambda *x, lib=lib: save(lib, list(x)), **arguments,
            }  # fmt: skip
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    results.append((eval(expression, scope), None))
                except Exception as e:
                    results.append((None, e))
        (tv, te), (rv, re_) = results
        if (te is None) != (re_ is None):
            return f"raises: torch {short(te) if te else None} against {short(re_) if re_ else None}"
        difference = None
        if te is not None:
            if exception_type(te) is not exception_type(re_):
                return f"error type: torch {short(te)} against {short(re_)}"
            if not hasattr(re_, "kind"):
                return f"error without a kind: {re_!r} (torch {short(te)})"
        else:
            difference = self.compare(tv, rv)
        return difference or self.compare_live() or self.compare_bytes() or self.compare_arrays()

    def compare(self, tv, rv):
        if isinstance(tv, torch.TypedStorage):
            if not isinstance(rv, ref.TypedStorage) or str(tv.dtype) != str(rv.dtype) or tv._size() != rv._size():
                return f"typed storage: torch {tv.dtype}, {tv._size()} against {rv!r}"
            tv, rv = tv._untyped_storage, rv._untyped_storage
        if isinstance(tv, torch.UntypedStorage):
            if not isinstance(rv, ref.UntypedStorage):
                return f"not a storage: {rv!r}"
            flags = [(x.nbytes(), x.resizable(), x.is_shared(), x.data_ptr() != 0, str(x.device)) for x in (tv, rv)]
            if flags[0] != flags[1]:
                return f"storage: torch {flags[0]} against {flags[1]}"
            known = self.storages.get(tv._cdata)
            if known is None:
                if any(rv is b for _, b in self.keep):
                    return "storage: torch has a new one, the reference an old one"
                self.link(tv, rv)
            elif known is not rv:
                return "storage: torch has an old one, the reference a new one"
            if not any(tv is x for x in self.s):
                self.s.append(tv)
                self.sr.append(rv)
            return None
        if isinstance(tv, np.ndarray):
            same = [(x.dtype, x.shape, x.strides, x.flags.writeable) for x in (tv, rv)]
            if same[0] != same[1]:
                return f"array: torch {same[0]} against {same[1]}"
            self.a.append(tv)
            self.ar.append(rv)
            return None
        return super().compare(tv, rv)

    def compare_arrays(self):
        if self.folder is not None:
            x, y = (Path(self.file(lib)).read_bytes() for lib in (torch, ref))
            if x != y:
                return f"file: torch {list(x)} against {list(y)}"
        for i, (x, y) in enumerate(zip(self.a, self.ar, strict=True)):
            if self.array_exact(i) and x.tobytes() != y.tobytes():
                return f"array {i}: torch {x.tolist()} against {y.tolist()}"
        for i, (x, y) in enumerate(zip(self.s, self.sr, strict=True)):
            if (x.resizable(), x.is_shared(), x.nbytes()) != (y.resizable(), y.is_shared(), y.nbytes()):
                return f"storage {i}: torch {x.resizable(), x.is_shared(), x.nbytes()} against {y!r}"
        return None
