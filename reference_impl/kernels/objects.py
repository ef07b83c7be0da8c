"""Kernels as machine code that is kept on disk, and loaded from there without Numba.

Numba's own cache asks for Numba, whose registries, and SciPy where it is installed, take several tenths of a second to
import; and it does not see that a file which a kernel uses has changed. Here Numba compiles a kernel once; the object
file is named by all sources that make it, the versions of the compilers and the processor, and LLVM alone loads it.
"""

import hashlib
import os
import re
from contextlib import suppress
from functools import cache, lru_cache
from importlib.metadata import version
from pathlib import Path
from threading import RLock
from typing import Any

from llvmlite import binding

from . import machine
from .files import write_whole

KERNELS = {
    "runs": ("runs", "copy_runs"),
    "pieces": ("pieces", "copy_pieces"),
    "blocks": ("blocks", "copy_blocks"),
    "whole": ("runs", "copy_whole_run"),
    "transpose": ("transpose", "copy_transposed"),
    "carried": ("carried", "copy_carried"),
    "joined": ("joined", "copy_joined"),
    "repeated": ("repeated", "copy_repeated"),
    "interleave": ("weave", "copy_woven"),
    "deinterleave": ("weave", "copy_woven"),
    "step": ("pick", "copy_picked"),
    "fill": ("pick", "copy_picked"),
    "items": ("items", "copy_items"),
    "arithmetic": ("elementwise", "operate"),
    "decisions": ("decisions_kernel", "decide"),
}
"""Module and function of each kernel."""
_OF_BYTES = {"runs", "joined", "repeated", "pieces", "blocks", "whole", "arithmetic", "decisions"}
"""Kernels that know no items: one serves all sizes."""
VARIABLE = "NUMBA_CACHE_DIR"
"""Environment variable that names another folder for machine code; beside this file, or in the user's cache, else."""

_FOLDER = Path(__file__).parent
_NEEDS = (
    "malloc", "free", "memmove", "memcpy", "memset", "bzero", "memset_pattern16",
    "PyBool_FromLong", "PyEval_SaveThread", "PyEval_RestoreThread",
)  # fmt: skip
"""C functions that a kernel may call: those of the C library and of the interpreter, which every process has."""
_CHECK = 32
"""Bytes at the start of a file that tell whether the rest is whole."""
_lock = RLock()


@cache
def kernel(name: str, item: int = 1, width: int = 64) -> int:
    """The address of a kernel for items and registers of so many bytes; those of what knows neither are left out."""
    return _loaded(*_asked(name, item, width))


def is_kept(name: str, item: int, width: int) -> bool:
    """Whether a kernel need not be compiled, since this machine has its machine code."""
    module, function, tag = _asked(name, item, width)
    symbol = _symbol(function, tag)
    with _lock:
        return bool(_machine()[0].get_function_address(symbol)) or _file(symbol, module).exists()


def _asked(name: str, item: int, width: int) -> tuple[str, str, tuple[int | str, ...]]:
    """Module, function and tag of a kernel."""
    module, function = KERNELS[name]
    return module, function, (1 if name in _OF_BYTES else item, width)


@cache
def arithmetic(name: str, number: str) -> int:
    """The address of what `elementwise.py` works on a row with, for numbers of a dtype, as `f4`."""
    return _loaded("elementwise", name, (number,))


@cache
def front_door() -> int:
    """The address of `entry_kernel.enter`, which CPython is to call."""
    return _loaded("entry_kernel", "enter", ())


def _symbol(function: str, tag: tuple[int | str, ...]) -> str:
    return "_".join(["stridecheck", function, *map(str, tag)])


def _loaded(module: str, function: str, tag: tuple[int | str, ...]) -> int:
    name = _symbol(function, tag)
    with _lock:
        engine, _ = _machine()
        if not engine.get_function_address(name):
            code = _read(name, module) or _kept(name, module, _compiled(name, module, function, tag))
            engine.add_object_file(binding.ObjectFileRef.from_data(code))
            engine.finalize_object()
        return int(engine.get_function_address(name))


@lru_cache(1)
def _machine() -> tuple[Any, Any]:
    """What holds machine code, and what makes it."""
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    target = binding.Target.from_default_triple().create_target_machine(
        cpu=binding.get_host_cpu_name(), features=_features(), opt=3, reloc="default", codemodel="jitdefault", jit=True
    )
    engine = binding.create_mcjit_compiler(binding.parse_assembly(""), target)
    return engine, target


def _features() -> str:
    try:
        return str(binding.get_host_cpu_features().flatten())
    except RuntimeError:  # llvmlite knows no features of this processor
        return ""


def _compiled(name: str, module: str, function: str, tag: tuple[int | str, ...]) -> bytes:
    from importlib import import_module

    from numba import cfunc, types

    from .llvm import TAGS

    body = getattr(import_module(f".{module}", __package__), function)
    if not tag:

        def outer(table: int, arguments: int, number: int) -> int:
            return int(body(table, arguments, number))

    else:
        kind = TAGS[tag]

        def outer(descriptor: int, dst: int, src: int, first: int, last: int) -> int:  # type: ignore[misc]
            return int(body(descriptor, dst, src, first, last, kind))

    numbers = [types.intp] * outer.__code__.co_argcount
    made = cfunc(types.intp(*numbers), error_model="numpy")(outer)
    text, number = _DEFINED.subn(r'\1 "stackrealign"', made.inspect_llvm())
    assert number == text.count("\ndefine "), "LLVM's language has changed"
    code = binding.parse_assembly(text)
    for part in code.functions:
        if not part.is_declaration:
            part.linkage = "external" if part.name == made.native_name else "internal"
    for variable in code.global_variables:
        if not variable.is_declaration:
            variable.linkage = "internal"
    code.get_function(made.native_name).name = name
    # What Numba adds for exceptions goes, now that it can be seen that none is raised.
    target = _machine()[1]
    passes = binding.create_new_module_pass_manager()
    passes.add_ipsccp_pass()
    passes.add_simplify_cfg_pass()
    passes.add_global_dead_code_eliminate_pass()
    passes.run(code, binding.create_pass_builder(target, binding.create_pipeline_tuning_options()))
    asked = {part.name for part in code.functions if part.is_declaration and not part.name.startswith("llvm.")}
    assert asked <= {*_NEEDS}, f"{name} calls {asked}"
    return bytes(target.emit_object(code))


_DEFINED = re.compile(r"^(define [^{]*?)(?= personality | ?\{)", re.MULTILINE)
"""The head of a function in LLVM's language, up to where its attributes end.

Registers that do not suffice are kept on the stack, which begins at a multiple of 16 bytes: unless it is aligned to
whole registers, some lie on two pages in one process of ten, and a copy of bytes takes twice as long there.
"""


@cache
def _here() -> str:
    """The processor and the compilers that machine code depends on, in some letters."""
    parts = [f"{name} {version(name)}" for name in ("numba", "llvmlite")]
    parts += [binding.get_host_cpu_name(), _features(), str(machine.first_bytes()), str(machine.is_intel())]
    return _digest([part.encode() for part in (*parts, str(object.__basicsize__))])


@cache
def _sources(module: str) -> str:
    """The sources that the machine code of a module depends on, in some letters."""
    texts: dict[str, bytes] = {}
    wanted = [module, "objects"]
    while wanted:
        name = wanted.pop()
        if name not in texts:
            texts[name] = (_FOLDER / f"{name}.py").read_bytes()
            for one, several in _IMPORT.findall(texts[name]):
                wanted += [other.strip().decode() for other in (one or several).split(b",")]
    return _digest([texts[name] for name in sorted(texts)])


def _digest(parts: list[bytes]) -> str:
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:12]


_IMPORT = re.compile(rb"^from \.(\w*) import (.*)", re.MULTILINE)
"""A module of this folder, or none and the modules that are taken from it."""


@lru_cache(1)
def _place() -> Path:
    """The folder of the object files."""
    asked = os.environ.get(VARIABLE)
    if asked:
        return Path(asked)
    beside = _FOLDER / "__pycache__"
    if os.access(beside if beside.exists() else _FOLDER, os.W_OK):
        return beside
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "stridecheck"


def _file(name: str, module: str) -> Path:
    return _place() / f"{name}.{_here()}.{_sources(module)}.o"


def _read(name: str, module: str) -> bytes | None:
    """The object file of a function; None where there is none, or one that is damaged."""
    try:
        held = _file(name, module).read_bytes()
    except OSError:
        return None
    code = held[_CHECK:]
    return code if hashlib.sha256(code).digest() == held[:_CHECK] else None


def _kept(name: str, module: str, code: bytes) -> bytes:
    """Write an object file in the place of those of other sources; no harm where that cannot be.

    Those of other processors and compilers stay: they may share the folder.
    """
    with suppress(OSError):
        write_whole(_file(name, module), hashlib.sha256(code).digest() + code)
        for old in _place().glob(f"{name}.{_here()}.*.o"):
            if old != _file(name, module):
                old.unlink(missing_ok=True)
    return code


def _forget() -> None:
    # A forked child may have been left a lock that a thread of its parent's holds.
    global _lock
    _lock = RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
