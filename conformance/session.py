"""One library, started, and the campaign on it: what runs the parts of a run, in whatever process that is."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator

from stridecheck.reports import records

from .attribution import Eager
from .campaign import Campaign
from .expectations import Expectations, bundled, load
from .options import Options
from .protocol import Adapter
from .rules import catalogue
from .runner import Worker
from .units import Part, whole


class Session:
    """A library as the options of a run want it; as a context manager it ends its processes.

    Raises
    ------
    AdapterFailed
        It could not be found, imported or used here.
    ExpectationError
        Its expectations cannot be read.
    """

    def __init__(self, options: Options, spec: str) -> None:
        def worker(spec: str) -> Worker:
            return Worker(
                spec,
                python=options.python or sys.executable,
                program_timeout=options.timeout,
                start_timeout=options.start_timeout,
                memory=options.memory << 20,
            )

        self.worker = worker(spec)
        self._eager: Eager | None = None
        try:
            self.worker.start()
            self.introduction = records.Adapter(
                self.worker.name, "ready", "", dict(self.worker.versions), self.worker.capabilities.to_json(), spec
            )
            mode_of = self.worker.capabilities.mode_of
            self._eager = Eager(worker(mode_of)) if mode_of else None
            self.campaign = Campaign(
                worker=self.worker,
                oracle=oracle(),
                catalogue=catalogue(),
                expectations=expectations(options, self.introduction),
                rules=options.rules,
                lists_hold=not options.update_expectations,
                eager=self._eager,
            )
        except BaseException:
            self.stop()
            raise

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *exc: object) -> None:
        self.stop()

    def stop(self) -> None:
        """End the library's processes."""
        self.worker.stop()
        if self._eager is not None:
            self._eager.stop()

    def run(self, parts: Iterable[Part]) -> Iterator[list[records.Record]]:
        """The records of each part, as `Campaign.run` gives them."""
        yield from self.campaign.run(whole(parts, self.campaign.oracle))


def oracle() -> Adapter:
    """The bundled oracle; its import compiles kernels, so it waits until it is needed."""
    from .adapters import reference

    return reference.adapter()


def expectations(options: Options, adapter: records.Adapter) -> Expectations:
    """The known deviations that hold for a library.

    Raises
    ------
    ExpectationError
        The file is missing or broken.
    """
    if options.expect is not None:
        return load(options.expect, adapter.versions, is_update=options.update_expectations)
    return bundled(adapter.name, adapter.versions, is_update=options.update_expectations)
