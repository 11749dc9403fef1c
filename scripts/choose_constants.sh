#!/usr/bin/env bash
# Chooses every tuned constant of the search strategy `auto` anew from recorded spaces, leaving out one kernel at a time, so
# that anyone can see what is fitted to what.
#
#   scripts/choose_constants.sh FOLDER [SETTINGS [REPEATS]]
#
# FOLDER holds recordings named KERNEL__DEVICE.json or .json.gz (Kernel Tuner caches or T4); the same measurements in a
# second format count once. SETTINGS random settings are drawn from the choices listed in crates/kiln-search/src/settings.rs
# and each is searched with REPEATS times on every file (defaults 40 and 8: about fifteen minutes on two cores).
#
# For each kernel left out it prints, for every constant, the value that did best on average over the other kernels, the
# averages behind that choice, and then what the chosen values and the defaults are worth on the kernel that was left out, with
# seeds not used before. "(none)" leaves out nothing: those are the values for the table. Constants that only matter with
# priors are chosen from searches with a prior of another device, for kernels that have recordings of several.
set -euo pipefail
if [ $# -lt 1 ] || [ ! -d "$1" ]; then
    sed -n '2,18p' "$0" | sed 's/^# \{0,1\}//' >&2
    exit 2
fi
folder=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
exec cargo run --release --quiet -p kiln-search --example constants -- "$folder" "${2:-40}" "${3:-8}"
