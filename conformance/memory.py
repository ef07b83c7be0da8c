"""The memory that a program's values lie in: what it is called, what it holds, and which parts are seen twice.

Storages are known by the number of the program's own (`s0`) or by the key of the first value seen on a new one (`v5`).
Memory that no storage of the library holds (a NumPy array's) is named in the same way. Standard library only.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import os
import shutil
import tempfile
import weakref
from collections import defaultdict
from pathlib import Path
from typing import Any

from .foreign import Block, Described
from .observation import StorageState
from .program import File, Storage
from .protocol import Adapter, ProtocolError, Undefined

GUARD = bytes([0xA5, 0x5A] * 32)
"""Pattern on either side of a guarded storage."""
UNSPECIFIED = 255
"""Mark of a byte that nobody specifies, as in `reference_impl.shadow`."""


class Memory:
    """All memory of one run of a program, by name; `observe` tells what changed.

    Raises
    ------
    Undefined
        From `observe`: memory was resized or moved while something else still looks at it.
    """

    def __init__(self, adapter: Adapter) -> None:
        self._adapter = adapter
        self._handles: dict[str, Any] = {}
        self._name_of: dict[int, str] = {}
        self.contents: dict[str, StorageState] = {}
        """What each holds, as of the last look."""
        self._guarded: dict[str, bytearray] = {}
        self._foreign: dict[str, _Foreign] = {}
        self._homes: dict[str, tuple[str, int]] = {}
        self._addresses: dict[str, int] = {}
        """Addresses of those that lie in others' memory."""
        self._places: dict[str, tuple[str, int] | None] = {}
        """Where each foreign value was seen first: its address is for ever."""
        self._new: list[str] = []
        """Storages whose place is not known yet."""
        self.copies_vague = False
        """Whether the step at hand reads foreign memory that nobody specifies: what it makes holds the same."""
        self._nowhere: list[str] = []
        """Storages on the device meta: a length without bytes."""
        self._folder: Path | None = None

    def make(self, number: int, storage: Storage) -> Any:
        """The library's own object for a storage of the program; None for a file."""
        name, data = f"s{number}", storage.contents()
        if storage.backing == "file":
            with open(f"{self.folder}/{File(number).name}", "wb", buffering=0) as file:
                file.write(data)
            return None
        if storage.backing == "guarded":
            block = self._guarded[name] = bytearray(GUARD + data + GUARD)
            handle = self._adapter.storage(memoryview(block)[len(GUARD) : len(GUARD) + len(data)], "guarded")
        else:
            handle = self._adapter.storage(data, "owned")
        if self._adapter.observes_storage:
            self._call(name, handle)
        return handle

    def _call(self, name: str, handle: Any) -> None:
        self._handles[name] = handle
        self._name_of[id(handle)] = name

    def name_of(self, handle: Any, key: str) -> str:
        """The name of a storage; a new one is called after the value `key` that shows it."""
        name = self._name_of.get(id(handle))
        if name is None:
            name = f"v{key}"
            while name in self._handles or name in self._foreign:  # the value was given another storage
                name += "'"
            self._call(name, handle)
            self._new.append(name)
        return name

    def observe(self) -> dict[str, StorageState]:
        """What each storage holds now, of those that changed since the last look."""
        homes = self._homes
        if homes:
            self._follow()
        if self._new:
            self._find_homes()
        bytes_of, shadow_of, latest = self._adapter.bytes_of, self._adapter.shadow_of, self.contents
        changed: dict[str, StorageState] = {}
        for name, handle in self._handles.items():
            data = bytes_of(handle)
            if type(data) is not bytes:
                raise ProtocolError(f"bytes_of answered a {type(data).__name__}, and not bytes")
            content = (data, shadow_of(handle), homes.get(name))
            if latest.get(name) != content:
                changed[name] = StorageState(*content)
        if homes or self._nowhere or self._foreign or self._folder is not None:
            now = self._with_the_rest(latest | changed)
            changed = {name: content for name, content in now.items() if latest.get(name) != content}
        self.contents.update(changed)
        return changed

    def _with_the_rest(self, now: dict[str, StorageState]) -> dict[str, StorageState]:
        """What all memory holds, given what the storages hold that have memory of their own."""
        now |= {name: StorageState(b"", None, ("meta", self._extent(name)[1])) for name in self._nowhere}
        now |= {name: StorageState(f.read(), f.shadow) for name, f in self._foreign.items()}
        if self._homes:
            self._share_marks(now)
        if self._folder is not None:
            now |= {name: self._file(name, now) for name in sorted(os.listdir(self._folder))}
        return now

    def damaged(self) -> tuple[str, ...]:
        """Storages whose guard bytes were overwritten."""
        if not self._guarded:
            return ()
        return tuple([n for n, b in self._guarded.items() if not (b.startswith(GUARD) and b.endswith(GUARD))])

    @property
    def is_seen_twice(self) -> bool:
        """Whether some storage lies in the memory of another one."""
        return bool(self._homes)

    def root_of(self, name: str) -> str:
        """The memory that a storage lies in: another one's, or its own."""
        while name in self._homes:
            name = self._homes[name][0]
        return name

    # Files.

    @property
    def has_files(self) -> bool:
        """Whether there is a folder of the program's own."""
        return self._folder is not None

    @property
    def folder(self) -> Path:
        """The program's own folder, emptied with this object."""
        if self._folder is None:
            self._folder = FOLDERS.take()
            weakref.finalize(self, FOLDERS.give_back, self._folder)
        return self._folder

    def path_of(self, file: File) -> str:
        """The path that a file argument means."""
        return str(self.folder / file.name)

    def without_folder(self, text: str) -> str:
        """A text in which the folder, which differs from run to run, is not named."""
        return text if self._folder is None else text.replace(str(self._folder), "...")

    def _file(self, name: str, now: dict[str, StorageState]) -> StorageState:
        """A file as it lies on disk; what one does not know who sees it, by a map of its own, nobody knows."""
        path = f"{self._folder}/{name}"
        with open(path, "rb", buffering=0) as file:
            data = file.read()
        if all(now[name].shadow is None for name in self._handles):
            return StorageState(data)
        # A private map sees the file as long as it has not been written to.
        seeing = [
            name
            for name, handle in self._handles.items()
            if self._adapter.file_of(handle) == path and data.startswith(now[name].data)
        ]
        shadows = [shadow for name in seeing if (shadow := now[name].shadow) is not None]
        if not shadows:
            return StorageState(data)
        marks = bytes(map(max, *(shadow.ljust(len(data), b"\0") for shadow in shadows), bytes(len(data))))
        for name in seeing:
            self._mark(name, marks[: len(now[name].data)], now)
        return StorageState(data, marks)

    # Addresses.

    def place_of(self, address: int) -> str:
        """Where an address lies: memory and byte in it, as `s0+8`; the end of memory is still part of it."""
        for nbytes in (1, 0):
            if (found := self._around("", address, nbytes)) is not None:
                return f"{found[0]}+{found[1]}"
        # Without memory what is told is the offset alone.
        return str(address) if address < 1 << 16 else "elsewhere"

    def locate(self, key: str, found: Described, *, specified: bool) -> tuple[str, int] | tuple[None, None]:
        """The memory that a foreign value lies in and its first byte there; its owner's is called after its key.

        Raises
        ------
        Undefined
            It lies where its memory was.
        """
        if found.address is None:
            return None, None
        place = self._around("", found.address, 1)
        before = self._places.setdefault(key, place)
        if before is not None and before != place:
            raise Undefined(f"memory that value {key} lies in was moved or freed")
        if place is None and found.owned is not None:
            shadow = None if specified else bytes([UNSPECIFIED]) * found.owned.nbytes
            self._foreign[f"v{key}"] = _Foreign(found.owned, shadow)
            place = f"v{key}", found.address - found.owned.address
        return place or (None, None)

    def _extent(self, name: str) -> tuple[int, int]:
        """Address and length of memory by name."""
        foreign = self._foreign.get(name)
        return self._adapter.extent_of(self._handles[name]) if foreign is None else foreign.extent

    def _around(self, name: str, address: int, nbytes: int) -> tuple[str, int] | None:
        """The memory known before `name` that has a whole range in it, and where the range begins there."""
        extent_of = self._adapter.extent_of
        for other, foreign in self._foreign.items():
            begin, length = foreign.extent
            if begin <= address and address + nbytes <= begin + length:
                return other, address - begin
        for other, handle in self._handles.items():
            if other == name:
                break
            begin, length = extent_of(handle)
            if begin <= address and address + nbytes <= begin + length and begin:
                return other, address - begin
        return None

    # Memory that lies in other memory.

    def _find_homes(self) -> None:
        """Find which new storages lie in memory that was known before, and which have none."""
        for name in self._new:
            address, nbytes = self._extent(name)
            if address and nbytes:
                home = self._around(name, address, nbytes)
                if home is not None:
                    self._homes[name], self._addresses[name] = home, address
                elif self.copies_vague:
                    self._adapter.mark(self._handles[name], bytes([UNSPECIFIED]) * nbytes)
            elif not address and self._is_nowhere(self._handles[name]):
                self._nowhere.append(name)
        self._new.clear()

    def _is_nowhere(self, handle: Any) -> bool:
        """Whether a storage is on meta; one that is merely empty has no address either."""
        return self._adapter.is_storage(handle) and "m" in self._adapter.describe_storage(handle)[2]

    def _follow(self) -> None:
        """See whether what lies in others' memory still does: it may have been moved, or they."""
        for name, (home, start) in list(self._homes.items()):
            address, nbytes = self._extent(name)
            if address != self._addresses[name]:
                del self._homes[name]
                self._new.append(name)
                continue
            begin, length = self._extent(home)
            if begin + start != address or start + nbytes > length:
                raise Undefined(f"memory that storage {name} lies in was moved or freed")

    def _share_marks(self, now: dict[str, StorageState]) -> None:
        """Let all that see the same bytes know which of them are not specified; only the oracle marks bytes."""
        if not any(now[name].shadow for pair in self._homes.items() for name in (pair[0], pair[1][0])):
            return
        before = {name: _marks(self.contents.get(name, content)) for name, content in now.items()}
        marks = {name: _marks(content) for name, content in now.items()}
        for inward in (True, False):
            for name, (home, start) in self._homes.items():
                whole, end = marks[home], start + len(marks[name])
                both = _latest(marks[name], before[name], whole[start:end], before[home][start:end])
                if inward:
                    marks[home] = whole[:start] + both + whole[end:]
                else:
                    marks[name] = both
        for name in {*self._homes, *[home for home, _ in self._homes.values()]}:
            if marks[name] != _marks(now[name]):
                self._mark(name, marks[name], now)

    def _mark(self, name: str, marks: bytes, now: dict[str, StorageState]) -> None:
        shadow = marks if any(marks) else None
        now[name] = now[name]._replace(shadow=shadow)
        if name in self._foreign:
            self._foreign[name].shadow = shadow
        else:
            self._adapter.mark(self._handles[name], shadow)


class _Folders:
    """Empty folders that runs of programs use one after the other: making one takes longer than most programs.

    A process that was forked makes its own. Where it dies it leaves them, so those of all processes that one forks lie
    below a folder of that one, which removes them.
    """

    def __init__(self) -> None:
        self._free: dict[int, list[Path]] = defaultdict(list)
        self._below: Path | None = None
        self.begun: dict[int, set[int]] = defaultdict(set)
        """Processes that a process has begun, and that may end with it at once; a fork of it has begun none."""

    def gather(self) -> None:
        """Let all folders of this process, and of those that it forks from now on, lie below one."""
        if self._below is not None and self._below.is_dir():
            return
        with contextlib.suppress(OSError):  # told by the first program with a file
            self._below = Path(tempfile.mkdtemp(prefix=_prefix(os.getpid()), dir=_quick_place()))
            atexit.register(self._remove_all, os.getpid())

    def take(self) -> Path:
        """An empty folder."""
        free = self._free[os.getpid()]
        prefix = _prefix(os.getpid()) if self._below is None else f"{os.getpid()}-"
        return free.pop() if free else Path(tempfile.mkdtemp(prefix=prefix, dir=self._below or _quick_place()))

    def give_back(self, folder: Path) -> None:
        """Empty a folder for who comes next."""
        try:
            for entry in os.scandir(folder):
                os.unlink(entry)
        except FileNotFoundError:  # at the end of a process all of them may be gone already
            return
        self._free[os.getpid()].append(folder)

    def remove(self) -> None:
        """Remove those that this process has made and does not use, and what processes that it has begun leave."""
        for pid in self.begun.pop(os.getpid(), ()):
            remove_left_by(pid)
        for folder in self._free.pop(os.getpid(), []):
            shutil.rmtree(folder, ignore_errors=True)

    def remove_of(self, pid: int) -> None:
        """Remove those of a process that was forked and is dead."""
        for folder in self._below.glob(f"{pid}-*") if self._below is not None else ():
            shutil.rmtree(folder, ignore_errors=True)

    def _remove_all(self, pid: int) -> None:
        if pid == os.getpid() and self._below is not None:  # not in a process that a library has forked
            shutil.rmtree(self._below, ignore_errors=True)


def remove_left_by(pid: int) -> None:
    """Remove the folders of a process that was killed, and of those that it has forked."""
    for folder in Path(_quick_place() or tempfile.gettempdir()).glob(f"{_prefix(pid)}*"):
        shutil.rmtree(folder, ignore_errors=True)


def _prefix(pid: int) -> str:
    return f"stridecheck-{pid}-"


def _quick_place() -> str | None:
    """Where small files are made soonest: in memory, unless one says where; None where files are made anyway."""
    shared = "/dev/shm"
    return shared if "TMPDIR" not in os.environ and os.access(shared, os.W_OK | os.X_OK) else None


FOLDERS = _Folders()
"""Those of this process."""
remove_folders = atexit.register(FOLDERS.remove)
"""To be called by a process that ends without Python's own end."""


class _Foreign:
    """Memory that something keeps alive which is no storage of the library; its value is live as long as the run is."""

    def __init__(self, extent: Block, shadow: bytes | None) -> None:
        self.extent, self.shadow = extent, shadow

    def read(self) -> bytes:
        """All bytes."""
        return ctypes.string_at(*self.extent)


def _marks(content: StorageState) -> bytes:
    return content.shadow or bytes(len(content.data))


def _latest(ours: bytes, ours_before: bytes, theirs: bytes, theirs_before: bytes) -> bytes:
    """Marks of bytes that two see: of the side that wrote, unspecified where both did and do not agree.

    Who sees them for the first time, or with another length, has not written.
    """
    if len(ours_before) != len(ours):
        ours_before = ours
    if len(theirs_before) != len(theirs):
        theirs_before = theirs
    rows = zip(ours, ours_before, theirs, theirs_before, strict=True)
    return bytes([t if o in (t, ob) else o if t == tb else UNSPECIFIED for o, ob, t, tb in rows])
