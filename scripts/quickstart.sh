#!/usr/bin/env bash
# The main paths: a real engine's corpus through teacher, pack and check, with a look at what came out; then games of the
# net that is in the program through the same. Needs Rust only.
# Usage: scripts/quickstart.sh [DIR]   (DIR must be empty or missing; without it, quickstart-out is made afresh)
set -euo pipefail
cd "$(dirname "$0")/.."

out=${1:-}
if [ -z "$out" ]; then
    out=quickstart-out
    rm -rf "$out"
fi

cargo build --release --quiet --bin manaka
manaka=${CARGO_TARGET_DIR:-target}/release/manaka

step() {
    printf '\n\033[1m$ manaka %s\033[0m\n' "$*"
    "$manaka" "$@"
}

step teacher examples/corpus.parquet --out "$out/streams"
step info "$out/streams"
step pack "$out/streams" --out "$out/shards" --prefix teacher
step info "$out/shards"
step check "$out/streams" "$out/shards"
step view "$out/shards/teacher-00000.parquet" --rows 3

step selfplay --games 20 --search gumbel --simulations 32 --out "$out/selfplay"
step pack "$out/selfplay" --out "$out/selfplay-shards" --prefix selfplay
step check "$out/selfplay" "$out/selfplay-shards"
step stat "$out/selfplay-shards"

printf '\nStreams are in %s/streams and %s/selfplay, shards in %s/shards and %s/selfplay-shards.\n' \
    "$out" "$out" "$out" "$out"
