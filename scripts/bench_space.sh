#!/bin/sh
# Times kiln against Kernel Tuner and pyATF at building search spaces.
# All the work is in bench_space.py; this only finds a Python that can run it.
# No cd: SPACE.json and --json arguments are relative to the caller.
set -eu
here=$(dirname -- "$0")

if ! command -v python3 >/dev/null 2>&1; then
    echo "bench_space: python3 is not on PATH (3.11 or newer is needed)" >&2
    exit 2
fi
if ! python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
    echo "bench_space: $(python3 --version) is too old, 3.11 or newer is needed" >&2
    exit 2
fi
exec python3 "$here/bench_space.py" "$@"
