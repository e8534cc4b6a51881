#!/bin/sh
# Runs every fuzz target for SECONDS each on the stable toolchain: fuzz/run.sh SECONDS [TARGET...]
# The seeds are copied first, so that what a run finds does not land in the tree. A crash is left in fuzz/artifacts.
set -eu

seconds=${1:?usage: fuzz/run.sh SECONDS [TARGET...]}
shift
cd "$(dirname "$0")/.."

if ! cargo fuzz --version >/dev/null 2>&1; then
    cargo install cargo-fuzz --locked
    PATH="${CARGO_HOME:-$HOME/.cargo}/bin:$PATH"
fi

corpus=$(mktemp -d)
trap 'rm -rf "$corpus"' EXIT INT TERM
cp -R fuzz/seeds/. "$corpus"

for target in ${@:-$(cargo fuzz list)}; do
    echo "== $target"
    # Without a sanitizer nothing needs a nightly compiler; what is looked for are panics and broken promises. Debug
    # assertions and overflow checks are on. The memory limit is far above what any input may take.
    cargo fuzz run -s none "$target" "$corpus/$target" -- \
        -max_total_time="$seconds" -max_len=8192 -rss_limit_mb=1024 -timeout=10 -verbosity=0 -print_final_stats=1
done
