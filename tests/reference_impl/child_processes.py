"""What the other process does in test_shared_memory; imported there under its own name, by spawned interpreters."""

import os
import signal

import stridecheck.reference_impl as ref
import stridecheck.reference_impl.multiprocessing as mp


def facts(t):
    """What a receiver can see of a tensor."""
    return (
        str(t.dtype), tuple(t.shape), t.stride(), t.storage_offset(), t.untyped_storage().nbytes(), t.requires_grad,
        t.is_conj(), t.is_neg(), t.is_shared(), t.untyped_storage().resizable(), t.detach().resolve_neg().tolist(),
    )  # fmt: skip


def obey(pipe):
    """Do what the pipe says until it says stop; errors travel back as their kind."""
    kept = {}
    while True:
        order, *rest = pipe.recv()
        try:
            answer = ORDERS[order](kept, *rest)
        except Exception as e:
            answer = "error", type(e).__name__, getattr(e, "kind", None), str(e)
        pipe.send(answer)
        if order == "stop":
            return


def keep(kept, name, thing):
    kept[name] = thing


def same(kept, first, second):
    return kept[first].untyped_storage() is kept[second].untyped_storage()


def make(kept, name, count):
    kept[name] = ref.arange(count).share_memory_()
    return kept[name]


def drop(kept, name):
    del kept[name]


def map_file(kept, name, path, shared, nbytes):
    kept[name] = ref.from_file(path, shared, nbytes, dtype=ref.uint8)


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
    "nonleaf": lambda kept: ref.ones(2).requires_grad_() * 2,
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

    def __init__(self):
        context = mp.get_context("spawn")
        self.pipe, there = context.Pipe()
        self.process = context.Process(target=obey, args=(there,))
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
