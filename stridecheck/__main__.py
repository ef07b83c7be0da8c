"""The command `stridecheck`: a light way in, for Ctrl-C may come while the heavy modules are still being imported."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line; interrupted, it ends with 130 and one line."""
    try:
        from stridecheck.cli import main as commands

        commands()
    except KeyboardInterrupt:
        sys.stderr.write("stridecheck: interrupted\n")
        raise SystemExit(130) from None


if __name__ == "__main__":
    main()
