#!/bin/sh
# How few evaluations kiln's search needs, beside Kernel Tuner's and Optuna's, on recorded spaces.
# All the work is in peers/search.py; this makes its Python and builds kiln.
# No cd: FOLDER is relative to the caller.
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
target=${CARGO_TARGET_DIR:-$here/../target}
work=$here/../target/bench-search

case "${1:-}" in
"" | -h | --help)
    cat <<'HELP'
usage: scripts/bench_search.sh FOLDER [OPTIONS]

Replays every recorded space of FOLDER (Kernel Tuner caches and T4 files, .json or .json.gz; one of a
kernel and a GPU, copies are left out) with every peer's strategy and with kiln's, and prints the mean of
optimum/best after 20, 50, 100 and 220 evaluations with its standard error, and whether the targets are met.
FOLDER/T1, where it is there, says by which rules Kernel Tuner builds a space.

The first run makes target/bench-search/venv with kernel_tuner 1.5.0 and optuna (needs a package index) and
builds kiln. Peers take hours: every repeat is kept in target/bench-search/peers.jsonl as it comes, and
is not run again. Ctrl-C is safe.

  --peers NAMES      a comma list instead of all; `none` for kiln alone
  --repeats N        repeats of each peer on each file [default: 30]
  --strategies NAMES kiln's strategies [default: auto]; `none` for the peers alone
  --our-repeats N    repeats of each of kiln's [default: 200]
  --table            run no peer: the table of what there is
  --details          the means for each file too
  --jobs N           peers' processes at a time [default: 1]
  --kiln PATH        a kiln that is built already
HELP
    exit 0
    ;;
esac

if ! command -v python3 >/dev/null 2>&1; then
    echo "bench_search: python3 is not on PATH (3.11 or newer is needed)" >&2
    exit 2
fi
if ! python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
    echo "bench_search: $(python3 --version) is too old, 3.11 or newer is needed" >&2
    exit 2
fi

mkdir -p "$work"
# The mark is written last: an installation that was broken off is made again.
if [ ! -e "$work/venv/complete" ]; then
    echo "bench_search: installing the peers into target/bench-search/venv" >&2
    rm -rf "$work/venv"
    python3 -m venv "$work/venv"
    # The solver decides the order of a space, and that moves results: pinned like the tuners.
    "$work/venv/bin/python" -m pip install --quiet --disable-pip-version-check \
        kernel_tuner==1.5.0 python-constraint2==2.9.0 optuna==5.0.0 >&2
    touch "$work/venv/complete"
fi

kiln=
for argument in "$@"; do
    case "$argument" in --kiln | --kiln=*) kiln=given ;; esac
done
if [ -z "$kiln" ]; then
    cargo build --release --quiet --package kiln-cli --manifest-path "$here/../Cargo.toml"
    set -- "$@" --kiln "$target/release/kiln"
fi
# Kernel Tuner puts its rules into a set of strings, and its solver's order follows theirs: one order for all runs.
export PYTHONHASHSEED=0
exec "$work/venv/bin/python" "$here/peers/search.py" --work "$work" "$@"
