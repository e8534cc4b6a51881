#!/bin/sh
# `manaka pack` against its floors, under a memory limit, and on one thread: ratios of medians in one run.
#
#     benches/pack_scale.sh STREAMS [RUNS]
#
# STREAMS is a directory that `make-streams` filled with as many parts as a multiple of the threads. "floor" decodes the streams
# and writes the very rows that `pack` writes, which lie in memory when its clock starts; "unfolded" decodes them and writes a row
# for each record in the order of the streams.
set -eu
streams=$1
runs=${2:-3}
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/pack-scale.XXXXXX")
trap 'rm -rf "$work"' EXIT

# Prints wall seconds and peak KiB of a command.
timed() {
    rm -rf "$work/out"
    /usr/bin/time -o "$work/time" -f '%e %M' "$@" >/dev/null 2>&1
    cat "$work/time"
}

# Prints the seconds that pack-floor measured itself.
floor() {
    rm -f "$work/floor.parquet"
    "$root/target/release/pack-floor" "$streams" --out "$work/floor.parquet" --threads 2 "$@" | cut -d' ' -f1
}

pack() { timed "$root/target/release/manaka" pack "$streams" --out "$work/out" "$@"; }

"$root/target/release/manaka" pack "$streams" --out "$work/shards" --threads 2 --memory 16G >/dev/null 2>&1
for run in $(seq "$runs"); do
    echo "floor $(floor --rows "$work/shards")"
    echo "unfolded $(floor)"
    echo "memory $(pack --threads 2 --memory 16G)"
    echo "disk $(pack --threads 2 --memory 512M)"
    echo "one-thread $(pack --threads 1 --memory 16G)"
done | tee "$work/all"

echo
for name in floor unfolded memory disk one-thread; do
    echo "$name $(grep "^$name " "$work/all" | sort -k2 -n | sed -n "$(((runs + 1) / 2))p" | cut -d' ' -f2-)"
done >"$work/medians"
awk '{ wall[$1] = $2; peak[$1] = $3 }
END {
    for (name in wall) printf "%-10s %7.2f s  peak %6.0f MiB\n", name, wall[name], peak[name] / 1024
    printf "in memory / floor %.2f, under 512M / floor %.2f, in memory / unfolded %.2f, under 512M / unfolded %.2f\n",
        wall["memory"] / wall["floor"], wall["disk"] / wall["floor"], wall["memory"] / wall["unfolded"], wall["disk"] / wall["unfolded"]
    printf "under 512M / in memory %.2f, one thread / two %.2f\n", wall["disk"] / wall["memory"], wall["one-thread"] / wall["memory"]
}' "$work/medians"
