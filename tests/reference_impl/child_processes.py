"""What the other process does in test_shared_memory; imported there under its own name, by spawned interpreters."""

import importlib
import os
import signal

REFERENCE = "stridecheck.reference_impl"


def facts(thing):
    """What a receiver can see of a tensor or a storage, in terms that both libraries share."""
    if hasattr(thing, "untyped"):
        return storage_facts(thing.untyped())
    return (
        str(thing.dtype), tuple(thing.shape), thing.stride(), thing.storage_offset(), thing.requires_grad,
        thing.is_leaf, thing.is_conj(), thing.is_neg(), thing._is_view(), thing._version,
        *storage_facts(thing.untyped_storage()),
    )  # fmt: skip


def storage_facts(storage):
    where = storage.device.type
    data = None if where == "meta" else storage.tolist()
    return where, storage.nbytes(), storage.is_shared(), storage.resizable(), data


def obey(pipe, library):
    """Do what the pipe says until it says stop; errors travel back as their kind."""
    lib = importlib.import_module(library)
    importlib.import_module(library + ".multiprocessing")
    kept = {"T": lib}
    order = None
    while order != "stop":
        try:
            order, *rest = pipe.recv()
            answer = ORDERS[order](kept, *rest)
        except Exception as e:
            builtin = next(c.__name__ for c in type(e).__mro__ if c.__module__ == "builtins")
            answer = "error", builtin, getattr(e, "kind", None), str(e)
        pipe.send(answer)


def keep(kept, name, thing):
    kept[name] = thing


def same(kept, first, second):
    return kept[first].untyped_storage() is kept[second].untyped_storage()


def make(kept, name, count):
    kept[name] = kept["T"].arange(count).share_memory_()
    return kept[name]


def drop(kept, name):
    del kept[name]


def map_file(kept, name, path, shared, nbytes):
    kept[name] = kept["T"].from_file(path, shared, nbytes, dtype=kept["T"].uint8)


ORDERS = {
    "keep": keep,
    "facts": lambda kept, name: facts(kept[name]),
    "fill": lambda kept, name, value: kept[name].detach().fill_(value) and None,
    "write": lambda kept, name, i, value: kept[name].detach().__setitem__(i, value),
    "read": lambda kept, name: kept[name].tolist(),
    "give": lambda kept, name: kept[name],
    "same": same,
    "make": make,
    "drop": drop,
    "resize": lambda kept, name, n: kept[name].resize_(n) and None,
    "new": lambda kept, name: kept[name].untyped_storage().new(),
    "map": map_file,
    "ask": lambda kept, name, question: str(eval(question, {"t": kept[name]})),
    "pid": lambda kept: os.getpid(),
    "maps": lambda kept: mapped(),
    "stop": lambda kept: None,
}


def mapped():
    """Bytes of shared memory that this process has mapped."""
    with open("/proc/self/maps") as lines:
        ranges = [line.split()[0].split("-") for line in lines if "memfd:stridecheck" in line]
    return sum(int(b, 16) - int(a, 16) for a, b in ranges)


class Other:
    """A spawned process that obeys."""

    def __init__(self, library=REFERENCE):
        context = importlib.import_module(library + ".multiprocessing").get_context("spawn")
        self.pipe, there = context.Pipe()
        self.process = context.Process(target=obey, args=(there, library))
        self.process.start()
        there.close()

    def __call__(self, *order):
        self.pipe.send(order)
        return self.pipe.recv()

    def kill(self):
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.join()

    def stop(self):
        if self.process.is_alive():
            self("stop")
            self.process.join()


def own_place(index, x, first=1):
    x[index] = first + index


def fail(index, how):
    """The second process fails in a way of its own, for which the first waits."""
    if index == 0:
        signal.pause()
    if how == "raise":
        raise ValueError("enough")
    if how == "exit":
        os._exit(7)
    os.kill(os.getpid(), signal.SIGKILL)
