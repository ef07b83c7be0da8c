"""Several processes that run one function: started together, and ended together once one of them fails."""

import os
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterable
from multiprocessing import connection, get_context
from pathlib import Path
from typing import Any


class ProcessException(Exception):
    """What ended one of several processes.

    Source: torch 2.13, `torch.multiprocessing`.
    """

    def __init__(self, msg: str, error_index: int, error_pid: int) -> None:
        super().__init__(msg, error_index, error_pid)
        self.msg = msg
        self.error_index = error_index
        self.error_pid = error_pid

    def __str__(self) -> str:
        return self.msg


class ProcessRaisedException(ProcessException):
    """An exception that the function raised; the message holds its traceback."""


class ProcessExitedException(ProcessException):
    """A signal, or an exit with a status of its own."""

    def __init__(
        self, msg: str, error_index: int, error_pid: int, exit_code: int, signal_name: str | None = None
    ) -> None:
        super().__init__(msg, error_index, error_pid)
        self.args += (exit_code, signal_name)
        self.exit_code = exit_code
        self.signal_name = signal_name


def _run(fn: Callable[..., object], index: int, args: Iterable[Any], error_file: str) -> None:
    try:
        fn(index, *args)
    except KeyboardInterrupt:
        pass
    except Exception:
        Path(error_file).write_text(traceback.format_exc(), encoding="utf-8")
        sys.exit(1)


class ProcessContext:
    """The processes that `start_processes` has started.

    Source: torch 2.13, `torch.multiprocessing.ProcessContext`.
    """

    def __init__(self, processes: list[Any], error_files: list[str]) -> None:
        self.processes = processes
        self.error_files = error_files
        self.sentinels = {process.sentinel: index for index, process in enumerate(processes)}

    def pids(self) -> list[int]:
        """Their numbers, in the order of their indices."""
        return [int(process.pid) for process in self.processes]

    def join(self, timeout: float | None = None, grace_period: float | None = None) -> bool:
        """Wait until one of them ends; whether all have. Once one has failed the others are ended too.

        They are given `grace_period` to end by themselves, and as long again (else 30 seconds) once told to.

        Units: seconds.
        Raises: `ProcessRaisedException`, or `ProcessExitedException` where the process told no reason.
        """
        for sentinel in connection.wait(list(self.sentinels), timeout) if self.sentinels else ():
            index = self.sentinels.pop(sentinel)
            self.processes[index].join()
            if self.processes[index].exitcode:
                self._end(grace_period)
                raise self._failure(index)
        return not self.sentinels

    def _end(self, grace_period: float | None) -> None:
        if grace_period is not None:
            self._wait(grace_period)
        for process in self.processes:
            process.terminate()
        self._wait(30 if grace_period is None else grace_period)
        for process in self.processes:
            process.kill()
            process.join()

    def _wait(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        for process in self.processes:
            process.join(max(0, end - time.monotonic()))

    def _failure(self, index: int) -> ProcessException:
        process, error_file = self.processes[index], Path(self.error_files[index])
        if error_file.exists():
            reason = error_file.read_text(encoding="utf-8")
            error_file.unlink()
            said = f"\n\n-- Process {index} terminated with the following error:\n{reason}"
            return ProcessRaisedException(said, index, process.pid)
        code = process.exitcode
        if code >= 0:
            return ProcessExitedException(f"process {index} terminated with exit code {code}", index, process.pid, code)
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = f"<Unknown signal {-code}>"
        return ProcessExitedException(f"process {index} terminated with signal {name}", index, process.pid, code, name)


def start_processes(
    fn: Callable[..., object],
    args: Iterable[Any] = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> ProcessContext | None:
    """Run `fn(index, *args)` in several processes; None once all have ended, or what to join them by.

    Raises: as `ProcessContext.join` does. Source: torch 2.13, `torch.multiprocessing.start_processes`.
    """
    context: Any = get_context(start_method)
    processes, error_files = [], []
    for index in range(nprocs):
        # Only a name: the file is there once its process has failed.
        handle, error_file = tempfile.mkstemp(prefix="stridecheck-error-")
        os.close(handle)
        os.unlink(error_file)
        process = context.Process(target=_run, args=(fn, index, args, error_file), daemon=daemon)
        process.start()
        processes.append(process)
        error_files.append(error_file)
    started = ProcessContext(processes, error_files)
    if not join:
        return started
    while not started.join():
        pass
    return None


def spawn(
    fn: Callable[..., object],
    args: Iterable[Any] = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> ProcessContext | None:
    """`start_processes` in new interpreters; another `start_method` is not heeded, with a warning."""
    if start_method != "spawn":
        said = f"this method starts new interpreters: call start_processes for {start_method!r}"
        warnings.warn(said, FutureWarning, stacklevel=2)
    return start_processes(fn, args, nprocs, join, daemon, "spawn")
