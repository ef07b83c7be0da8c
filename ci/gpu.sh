#!/usr/bin/env bash
# Checks and times torch:cuda and cupy on a machine with a GPU and without a network:
# `ci/gpu.sh [FOLDER OF WHEELS [PART...]]`, with an empty name for no folder.
# Exit codes: 0 as expected, 1 not, 3 no GPU here (said so). The one result file is out/gpu.zip. See docs/gpu.md.
set -euo pipefail
cd "$(dirname "$0")/.."
wheels="${1:-}"
python="${PYTHON:-python3}"

if ! nvidia-smi --list-gpus 2>/dev/null | grep -q .; then
    echo "no GPU: nvidia-smi lists none on this machine, nothing was run"
    exit 3
fi
if [ -n "$wheels" ]; then
    "$python" -m venv .cache/gpu
    python=.cache/gpu/bin/python
    "$python" -m pip install --quiet --no-index --find-links "$wheels" \
        torch cupy-cuda12x numpy numba hypothesis
fi
lacking="$("$python" -c 'from importlib.util import find_spec
print(*[name for name in "torch numpy numba hypothesis".split() if not find_spec(name)])')"
if [ -n "$lacking" ]; then
    echo "$python has no $lacking: give a folder of wheels (docs/gpu.md); nothing was run"
    exit 1
fi
# The suite itself is not installed: `stridecheck/` finds its rooms beside it when Python starts in the checkout.
exec "$python" -m stridecheck.ci.gpu "${@:2}"
