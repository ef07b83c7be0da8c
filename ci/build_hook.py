"""Build hook: the five top-level folders become `stridecheck.<folder>` (see docs/architecture.md, Packaging)."""

import shutil
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOMS = ("reference_impl", "conformance", "benchmarks", "reports", "ci")


class RoomsHook(BuildHookInterface[Any]):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        root = Path(self.root)
        parts = {room: root / room for room in ROOMS}
        if version == "editable":
            parts |= {item.name: item for item in (root / "stridecheck").iterdir() if item.name != "__pycache__"}
            self._link(root / ".editable" / "stridecheck", parts)
        else:  # the front door is found by its name
            build_data["force_include"].update({str(path): f"stridecheck/{name}" for name, path in parts.items()})

    @staticmethod
    def _link(package: Path, parts: dict[str, Path]) -> None:
        shutil.rmtree(package.parent, ignore_errors=True)
        package.mkdir(parents=True)
        for name, path in parts.items():
            # Relative links: the checkout may be moved, and an absolute path would stay in it.
            (package / name).symlink_to(Path("..", "..", path.relative_to(package.parent.parent)))
