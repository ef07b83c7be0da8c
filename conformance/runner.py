"""The parent's side of a library: sends batches, collects answers, survives whatever the library does.

Each program gets one answer. A process that dies, hangs, speaks nonsense or takes too much memory is replaced by one
that waits already, and the program that did it is found: alone, or among those that ran before it in that process.
"""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from .answers import AdapterFailed, Answer, Broken, answer_in
from .capabilities import Capabilities
from .observation import Observation
from .processes import Child, Server, Silence, message_of, signal_name
from .program import Program
from .repro import Claim
from .written import Written

_FEW = 16
"""Programs whose answers are read as soon as they are there; those of more are gathered."""
PROGRAM_TIMEOUT = 10.0
"""Seconds that one program may take before its worker is killed."""
START_TIMEOUT = 90.0
"""Seconds that a library may take to import, and each time to say whether its device is lost."""
MEMORY = 2 << 30
"""Bytes by which a worker may grow."""
SCRIPT_IMPORT_SECONDS = 10.0
"""Seconds that a script which is tried may spend on what it imports."""
MAX_STARTS = 3
"""Processes that somebody else may kill while they start."""
_FROM_OUTSIDE = (-signal.SIGKILL, -signal.SIGTERM, -signal.SIGINT, -signal.SIGHUP)
"""Return codes of processes that somebody else has ended, if it does not happen again."""


Item = TypeVar("Item")
"""A program with its number, or a question."""


@dataclass(frozen=True, slots=True)
class _Run(Generic[Item]):
    """What a process was given up to its end, and how to give it to another one.

    `replay` yields the answer to each of some items, with the return code of the process where it is at an end.
    """

    before: Sequence[Item]
    last: Item
    replay: Callable[[Sequence[Item]], Iterator[tuple[Any, int | None]]]
    name: Callable[[Item], str]


class Worker:
    """One library in processes of its own.

    `start` must succeed before `submit`; one batch is under way at a time, and `collect` yields an answer for each of
    its programs. As a context manager it ends its processes. `memory` is in bytes; 0 sets no limit. A program may take
    `program_timeout` seconds, or as many as the adapter asks for where that is more.
    """

    def __init__(
        self,
        spec: str,
        *,
        python: str = sys.executable,
        program_timeout: float = PROGRAM_TIMEOUT,
        start_timeout: float = START_TIMEOUT,
        memory: int = MEMORY,
    ) -> None:
        self.spec, self.python = spec, python
        self.program_timeout, self.start_timeout, self.memory = program_timeout, start_timeout, memory
        self.name = spec
        self.versions: Mapping[str, str] = {}
        self.capabilities = Capabilities(frozenset())
        self.restarts = 0
        self.forks = True
        """Whether a fresh process is forked from one that has the library, and not started with it."""
        self._has_device = False
        """Whether the library may lose one: then it is blamed on nothing that there is no fresh process to be had."""
        self._servers: list[Server] = []
        self._child: Child | None = None
        self._spare: Child | None = None
        """A process that is ready, or about to be, when the other one ends."""
        self._pending: dict[int, Program] = {}
        self._ran: dict[int, Program] = {}
        """Programs of this batch that the process has answered."""
        self._is_trusted = True
        """Whether the process takes another batch."""
        self._taken: int | None = None
        """Bytes by which the process has grown with its first question."""
        self._before: list[Any] = []
        """Questions that the process has answered."""

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *exc: object) -> None:
        self.stop()

    def start(self) -> None:
        """Start the processes and learn what the adapter claims.

        Raises
        ------
        AdapterFailed
            It could not be found, imported or used here.
        """
        for _ in range(MAX_STARTS):
            server = self._serve()
            message = self._greeting(server)
            if message is not None:
                break
        else:
            raise AdapterFailed("error", f"{self.spec}: killed {MAX_STARTS} times while starting")
        self.name, self.versions = message["ready"], message["versions"]
        self.capabilities = Capabilities.from_json(message["capabilities"])
        self.forks, self._has_device = message["forks"], message["has_device"]
        self.program_timeout = max(self.program_timeout, message["patience"])
        self._spare = server.child()
        self._renew()

    def _serve(self) -> Server:
        try:
            server = Server(self.spec, self.python)
        except OSError as error:
            raise AdapterFailed("unknown", f"cannot run {self.python}: {error.strerror}") from None
        self._servers.append(server)
        return server

    def _greeting(self, server: Server) -> dict[str, Any] | None:
        """What a server says when it has imported the library; None where somebody else has killed it."""
        message = server.receive(time.monotonic() + self.start_timeout)
        if message is Silence.LATE:
            reason = f"gave no answer within {self.start_timeout:g} s of starting"
        elif message is Silence.ENDED:
            status = server.end(1.0)
            if status in _FROM_OUTSIDE:
                self._servers.remove(server)
                return None
            reason = f"{signal_name(status)} while starting{_last_words(server)}"
        elif not isinstance(message, dict) or not {"failed", "ready"} & message.keys():
            reason = f"wrote {str(message)[:100]!r} while starting"
        elif "failed" in message:
            self.stop()
            raise AdapterFailed(message["failed"], message["reason"])
        else:
            server.is_ready = True
            return message
        self.stop(at_once=True)
        raise AdapterFailed("error", f"{self.spec}: {reason}")

    def _make(self) -> Child:
        """A process to come: forked in a moment, or started and told to import the library."""
        reusable = self.forks and self._servers and not self._servers[-1].gone
        return (self._servers[-1] if reusable else self._serve()).child()

    def _await_up(self) -> str:
        """Wait until the process is ready for its first batch; why it never will be, though another one may."""
        assert self._child is not None
        if not self._child.server.is_ready and self._greeting(self._child.server) is None:
            return f"{self.spec}: killed while starting"
        said = self._child.await_up(self.start_timeout)
        if said is None:
            return ""
        if self._child.is_asking or (isinstance(said, dict) and "lost" in said):
            reason = self._diagnose(said)[0].reason
            if said is Silence.ENDED:  # which somebody else may have done
                return reason
            raise AdapterFailed("error", reason)
        if said is Silence.LATE:
            reason = f"a process of it that was ready gave no answer within {self.start_timeout:g} s"
            raise AdapterFailed("error", f"{self.spec}: {reason}")
        return f"{self.spec}: its worker process did not come up{_last_words(self._child.server)}"

    def stop(self, *, at_once: bool = False) -> None:
        """End the processes; quiet where they are gone."""
        at_once = at_once or bool(self._pending)
        for child in (self._child, self._spare):
            if child is not None:
                child.close(kill=at_once)
        # One that waits may still be busy with importing the library, and need not finish that.
        patient = None if at_once or self._child is None else self._child.server
        for server in self._servers:
            server.end(2.0 if server is patient else 0.0)
        self._servers.clear()
        self._child = self._spare = None
        self._pending = {}

    def submit(self, batch: Sequence[tuple[int, Program]]) -> None:
        """Send programs, each with a number that its answer will carry; the batch before must be collected.

        Raises
        ------
        AdapterFailed
            There is no process, and none to be had.
        """
        assert not self._pending, "a batch is under way"
        if self._is_worn():
            self._renew()
        self._pending, self._ran = dict(batch), {}
        self._send()

    def _is_worn(self, taken: int = 0) -> bool:
        """Whether the process should take no more: it has leaked, too, which is nobody's fault alone.

        `taken` are bytes that are no leak.
        """
        if self._child is None or not self._is_trusted:
            return True
        return bool(self.memory) and self._child.growth > (self.memory + taken) // 2

    def distrust(self) -> None:
        """Have the next batch run in a fresh process: this one has written, or may write, where nothing of its own is.

        What it does from then on says nothing of the programs that it is given.
        """
        self._is_trusted = False

    def _send(self) -> None:
        if self._pending:
            assert self._child is not None
            batch = b",".join([b"[%d,%s]" % (n, program.line) for n, program in self._pending.items()])
            self._child.send_line(b'{"batch":[%s]}' % batch, time.monotonic() + self.program_timeout)

    def collect(self, expected: Mapping[int, Sequence[Observation]] = {}) -> Iterator[tuple[int, Answer]]:
        """Answers of the submitted batch, in the order sent; programs after a death go to a fresh process.

        An answer that is written letter for letter as what is `expected` of its program stays `Written`, unread.
        A program that has been answered is answered again where it turns out to have brought down a later one.

        Raises
        ------
        AdapterFailed
            There is no fresh process to be had; answers before that are given first.
        """
        while self._pending:
            number, program = next(iter(self._pending.items()))
            answer, status = self._next(number, expected.get(number))
            del self._pending[number]
            if not isinstance(answer, Broken) or status is None:
                self._ran[number] = program
                if isinstance(answer, list) and any(one.damaged for one in answer):
                    self.distrust()
                yield number, answer
                continue
            run = _Run([*self._ran.items()], (number, program), self._told, lambda item: f"program {item[1].id}")
            self._ran = {}
            found, failed = self._blame(run, answer, status)
            if failed is None:
                self._send()
            yield from [(number, answer) for (number, _), answer in found]
            if failed is not None:
                raise failed

    def _next(self, number: int, expected: Sequence[Observation] | None = None) -> tuple[Answer, int | None]:
        """The answer to a program, and the return code of the process where that is at an end."""
        assert self._child is not None
        deadline = time.monotonic() + self.program_timeout
        line = self._child.receive_line(deadline, self.memory, many=len(self._pending) > _FEW)
        if isinstance(line, Silence):
            return self._diagnose(line)
        if isinstance(expected, Written) and (alike := expected.told_by(line, number)) is not None:
            return alike, None
        message = message_of(line)
        if isinstance(message, dict) and message.get("number") == number:
            return answer_in(message), None
        return self._diagnose(message)

    def _diagnose(self, message: Any) -> tuple[Broken, int]:
        """What it means that a process went silent, died or spoke nonsense; it is ended where it has not."""
        assert self._child is not None
        is_asking = self._child.is_asking
        if message is Silence.ENDED:
            status = self._child.status()
            how = f"{signal_name(status)}{_last_words(self._child.server)}"
            return self._lost(f"lost() did not answer: {how}") if is_asking else Broken("crash", how), status
        self._child.kill()
        if message is Silence.LATE and is_asking:
            return self._lost(f"lost() did not answer within {self.start_timeout:g} s"), 0
        if message is Silence.LATE:
            return Broken("timeout", f"no answer within {self.program_timeout:g} s"), -signal.SIGKILL
        if message is Silence.GREEDY:
            how = f"killed: its memory grew by more than {self.memory >> 20:,} MiB"
            if is_asking:
                return self._lost(f"lost() did not answer: {how}"), 0
            return Broken("crash", how), -signal.SIGKILL
        if isinstance(message, dict) and "lost" in message:
            return self._lost(message["lost"]), 0
        return Broken("error", f"the worker wrote {str(message)[:100]!r} instead of an answer"), 0

    def _lost(self, reason: str) -> Broken:
        return Broken("crash", f"{self.spec} lost its device ({reason})", device_lost=True)

    def _blame(
        self, run: _Run[Item], answer: Broken, status: int
    ) -> tuple[list[tuple[Item, Any]], AdapterFailed | None]:
        """Answers once the process was lost at the last item of a run: its own, and that of the one that is to blame.

        And why there is no fresh process to go on in, None where there is.

        Raises
        ------
        AdapterFailed
            There is none, and the library may have lost its device for good: by nobody's fault that could be told.
        """
        found = [(run.last, answer)]
        try:
            if answer.outcome != "timeout":  # each try would take as long again
                for better in self._suspected(run, answer, status):
                    found = better
            self._renew()
        except AdapterFailed as error:
            if not self._has_device:
                return found, error  # what ended it is known, though it is for good
            more = "" if error.reason == answer.reason else f"; {error.reason}"
            raise AdapterFailed("error", f"{answer.reason}, at {run.name(run.last)}{more}") from None
        return found, None

    def _suspected(self, run: _Run[Item], answer: Broken, status: int) -> Iterator[list[tuple[Item, Any]]]:
        """What is known of who has ended a process: better each time, by what ends fresh ones."""

        def replayed(before: Sequence[Item]) -> tuple[Any, bool]:
            """The answer to the last, after some before it, or to one that was the end; and whether one was."""
            self._renew()
            found: Any = None
            for found, ended in run.replay([*before, run.last]):
                if ended is not None:
                    return found, True
            return found, False

        last, before, is_outside = run.last, run.before, status in _FROM_OUTSIDE
        alone, is_end = replayed(())
        if is_end and is_outside:
            alone, is_end = replayed(())  # who killed the server has killed the process that waited as well
        if is_end:
            return
        once = replace(answer, reason=f"{answer.reason}; it did not happen again", happened_again=False)
        yield [(last, alone if is_outside else once)]
        # What the system has killed, or we for its memory, has often died of all together, and of none among them.
        if status == -signal.SIGKILL or not before or not replayed(before)[1]:
            return
        if not is_outside:
            yield [(last, answer)]
        low, high = 0, len(before)  # those from `low` on bring it down, those from `high` on do not
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if replayed(before[middle:])[1] else (low, middle)
        if is_outside and not replayed([before[low]])[1]:
            return  # somebody who ends what has grown, say
        guilty = replace(answer, reason=f"{answer.reason}, in a later one ({run.name(last)})")
        yield [(before[low], guilty), (last, alone)]

    def _told(self, programs: Sequence[tuple[int, Program]]) -> Iterator[tuple[Answer, int | None]]:
        """What the process answers to each of some programs that it is given again."""
        assert self._child is not None
        batch = [[place, program.to_json(tags=False)] for place, (_, program) in enumerate(programs)]
        self._child.send({"batch": batch}, time.monotonic() + self.program_timeout)
        yield from map(self._next, range(len(programs)))

    def script(self, program: Program, claim: Claim, *, is_tried: bool = True) -> str:
        """A standalone script, in the library's own idiom, that exits 1 while the claim does not hold there.

        Empty where there is none: unless told not to, it is tried, and one that shows nothing is worse than none.
        """
        if self._child is None:
            return ""  # it could not be started again
        # One of a program that hangs does so once more, and what it imports first may take a while.
        deadline = time.monotonic() + 2 * self.program_timeout + SCRIPT_IMPORT_SECONDS
        self._child.send({"script": [program.to_json(tags=False), claim.to_json(), is_tried]}, deadline)
        answer = self._child.receive(deadline, self.memory)
        if isinstance(answer, dict) and isinstance(answer.get("script"), str):
            script: str = answer["script"]
            return script
        self._diagnose(answer)
        self._renew()
        return ""

    def ask(self, question: Any) -> list[tuple[Any, Any]]:
        """A question of the adapter's own with what it answers; `Broken` where it, or its process, gave no answer.

        One that was answered before comes again where it turns out to have brought down this one.

        Raises
        ------
        AdapterFailed
            There is no fresh process to be had, and that is nothing that could be told of this question.
        """
        if self._is_worn(self._taken or 0):
            self._renew()
        assert self._child is not None
        answer, status = self._asked(question)
        if status is not None:
            run = _Run(self._before, question, self._asked_again, _in_words)
            found, _ = self._blame(run, answer, status)
            return found  # without a fresh process the next question is told that there is none
        # What it takes for the first one it would take in each process.
        self._taken = self._child.growth if self._taken is None else self._taken
        self._before.append(question)
        return [(question, answer)]

    def _asked_again(self, questions: Sequence[Any]) -> Iterator[tuple[Any, int | None]]:
        return map(self._asked, questions)

    def _asked(self, question: Any) -> tuple[Any, int | None]:
        """The answer to a question, and the return code of the process where that is at an end."""
        assert self._child is not None
        deadline = time.monotonic() + self.program_timeout
        self._child.send({"question": question}, deadline)
        message = self._child.receive(deadline, self.memory)
        if isinstance(message, dict) and "answer" in message:
            return message["answer"], None
        if isinstance(message, dict) and "error" in message:
            return Broken("error", message["error"]), None
        return self._diagnose(message)

    def _renew(self) -> None:
        """Go on in the process that waits, and have another one wait."""
        if self._child is not None:
            self.restarts += 1
            self._discard(self._child)
        self._child, self._spare, self._is_trusted = self._spare, None, True
        self._taken, self._before = None, []
        try:
            for _ in range(MAX_STARTS):
                if self._child is None:
                    self._child = self._make()
                if not (reason := self._await_up()):
                    break
                self._discard(self._child)  # it is gone with its server, or was killed
                self._child = None
            else:
                raise AdapterFailed("error", reason)
        except AdapterFailed:
            self.stop(at_once=True)
            raise
        assert self._child is not None
        self._child.server.words.forget()  # the words of the last one are not those of this
        self._spare = self._make()

    def _discard(self, child: Child) -> None:
        """End a process, and its server where that has nothing left to serve."""
        child.close(kill=True)
        child.server.listen()
        if child.server in self._servers and (child.server.gone or not self.forks):
            child.server.end(1.0)
            self._servers.remove(child.server)


def _in_words(question: Any) -> str:
    return question if isinstance(question, str) else ", ".join(question)


def _last_words(server: Server) -> str:
    said = server.words.last()
    return f"; it last said: {said}" if said else ""
