"""Programs on both sides at once: handed to a worker, and run on the oracle while the worker is at them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from stridecheck.reference_impl.dtypes import LACKING

from .answers import Answer, Broken, Unsupported
from .capabilities import HAZARDS, hazards, needs
from .observation import Observation
from .program import Program
from .protocol import OracleError, ProtocolError
from .protocol import Unsupported as NotOffered
from .runner import Worker


class Batch:
    """One batch: sent as soon as it is made, its answers to be had once.

    `expect` answers with the oracle's observations of the program of a number. A program that needs what the library
    does not claim is sent up to the step that needs it; one that the oracle cannot run is answered by saying so.
    """

    def __init__(
        self, worker: Worker, programs: Sequence[Program], expect: Callable[[int], Sequence[Observation]]
    ) -> None:
        self.expected: dict[int, Sequence[Observation]] = {}
        """The oracle's observations, by the number of the program."""
        self._worker, self._expect = worker, expect
        self._unfit: dict[int, Answer] = {}
        self._lacking: dict[int, str] = {}
        """What is not claimed and a later step needs, of programs that are sent up to it."""
        runnable = []
        for number, program in enumerate(programs):
            missing, steps = self._missing(number, program)
            if missing is None:
                runnable.append((number, program))
            elif steps > 0 and self._observe(number):
                self._lacking[number] = missing
                runnable.append((number, program.head(steps)))
            else:
                self._unfit.setdefault(number, Unsupported(missing))
        self._left_out = dict(self._unfit)
        worker.submit(runnable)
        for number, _ in runnable:
            self._observe(number)

    def _missing(self, number: int, program: Program) -> tuple[str | None, int]:
        """The first need that the library does not claim, and how many steps come before it is there."""
        claimed, needed = self._worker.capabilities, needs(program)
        if (unknown := _unknown_here(needed)) is not None:
            return claimed.missing(needed) or unknown, 0
        missing = claimed.missing(needed)
        steps = len(program.steps) if missing is None else needed[missing]
        if steps > 0 and not claimed.features >= HAZARDS and self._observe(number):
            found = hazards(program, self.expected[number])
            # One that stands at a later step than what is missing already says nothing new.
            hazard = claimed.missing([need for need in found if found[need] < steps])
            if hazard is not None:
                return missing or hazard, found[hazard]
        return missing, steps

    def _observe(self, number: int) -> bool:
        """Have the oracle's observations of a program; False where the oracle broke."""
        if number not in self.expected and number not in self._unfit:
            try:
                self.expected[number] = self._expect(number)
            except (OracleError, ProtocolError) as error:
                self._unfit[number] = Broken("error", f"the oracle broke: {error}")
            except NotOffered as error:
                self._unfit[number] = Unsupported(f"oracle:{error}")
        return number in self.expected

    def answers(self) -> Iterator[tuple[int, Answer]]:
        """The number of each program with what the library answered: first of those that were not sent, then in order.

        Raises
        ------
        AdapterFailed
            The library died and could not be started again; answers before that are given first.
        """
        yield from self._left_out.items()
        for number, answer in self._worker.collect(self.expected):
            if number in self._lacking and not isinstance(answer, Broken):
                seen = answer.seen if isinstance(answer, Unsupported) else answer
                answer = Unsupported(self._lacking[number], seen)
            yield number, self._unfit.get(number, answer)


def _unknown_here(needed: Iterable[str]) -> str | None:
    """The first need of a dtype whose numbers the oracle does not know on this machine, None where there is none."""
    unknown = (f"oracle:{need} without ml_dtypes" for need in needed if need.removeprefix("dtype:") in LACKING)
    return next(unknown, None) if LACKING else None
