#!/usr/bin/env bash
# Shards to train on and others to measure by, without a position in common. Games are cut in two first, so that what is
# measured are games the network has not seen; positions that both have, such as openings, stay in the validation shards.
# Usage: python/examples/make_shards.sh OUT [CORPUS [TEACHER OPTIONS]]   (MANAKA and PYTHON name other programs)
set -euo pipefail
cd "$(dirname "$0")/../.."

out=${1:?usage: make_shards.sh OUT [CORPUS [TEACHER OPTIONS]]}
corpus=${2:-examples/corpus.parquet}
shift $(($# < 2 ? $# : 2))
manaka=${MANAKA:-${CARGO_TARGET_DIR:-target}/release/manaka}

"${PYTHON:-python3}" python/examples/split_games.py "$corpus" "$out/games"
for part in valid train; do
    "$manaka" teacher "$out/games/$part.parquet" --out "$out/streams-$part" "$@"
done
"$manaka" pack "$out/streams-valid" --out "$out/valid"
"$manaka" pack "$out/streams-train" --out "$out/train" --exclude "$out/valid"
