#!/bin/sh
# Kernel Tuner and what it needs besides numpy and cupy, unpacked for a machine without a package index, and its CUDA
# examples beside it. `scripts/gpu.sh pack` calls this where KILN_KERNEL_TUNER_EXAMPLES names the folder with the examples.
# usage: scripts/peers/kernel_tuner_wheels.sh FOLDER [PYTHON_VERSION [EXAMPLES]]
#        fills FOLDER/kernel_tuner, and FOLDER/kernel_tuner_examples from EXAMPLES or $KILN_KERNEL_TUNER_EXAMPLES
set -eu
folder=${1:?usage: kernel_tuner_wheels.sh FOLDER [PYTHON_VERSION [EXAMPLES]]}
version=${2:-3.12}
examples=${3:-${KILN_KERNEL_TUNER_EXAMPLES:-}}
# scipy, scikit-learn, pandas and pymoo, which it also asks for, are for strategies and reports that the comparison does not use.
packages="kernel_tuner==1.5.0 python-constraint2==2.9.0 xmltodict jsonschema jsonschema-specifications attrs referencing rpds-py packaging typing_extensions"

wheels=$(mktemp -d)
trap 'rm -rf "$wheels"' EXIT
# shellcheck disable=SC2086
python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary=:all: --python-version "$version" \
    --platform manylinux2014_x86_64 --platform manylinux_2_28_x86_64 --dest "$wheels" $packages
rm -rf "$folder/kernel_tuner"
mkdir -p "$folder/kernel_tuner"
for wheel in "$wheels"/*.whl; do
    python3 -m zipfile -e "$wheel" "$folder/kernel_tuner"
done
# The solver's generated C, and its extensions for other versions of Python, are nine tenths of everything.
tag=cpython-$(echo "$version" | tr -d .)-
find "$folder/kernel_tuner/constraint" -name '*.c' -delete
find "$folder/kernel_tuner/constraint" -name '*.so' ! -name "*$tag*" -delete
find "$folder/kernel_tuner" -name '*.so' -exec strip {} +
if [ -n "$examples" ]; then
    rm -rf "$folder/kernel_tuner_examples"
    mkdir -p "$folder/kernel_tuner_examples"
    cp "$examples"/*.cu "$examples/LICENSE" "$folder/kernel_tuner_examples/"
    chmod -R u+w "$folder/kernel_tuner_examples"
fi
du -sh "$folder/kernel_tuner"
