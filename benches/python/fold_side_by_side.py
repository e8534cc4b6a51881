"""The fold beside DuckDB and Polars: the same records, the same threads, one run, the answers compared.

    python benches/python/fold_side_by_side.py STREAMS [--threads N] [--repeat N] [--manaka PATH]

The records are exported to parquet first, outside the timing: the others start from columns that are decoded fastest
for them. Each then folds by position (least ply, count, mean value_q, mean cp by move rounded half away from zero),
sorts candidates by score, softmaxes (one-hot at mates), shuffles the rows and writes parquet with zstd 1 and groups of 8192 rows.
"""

import argparse
import os
import shutil
import struct
import subprocess
import tempfile
import time
from pathlib import Path

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import zstandard


def records(path: Path):
    """(ply, value_q, packed, moves, scores) of a score stream, in pieces of a whole file."""
    raw = path.open("rb").read()
    if raw[:4] != b"MPK1":
        raw = zstandard.ZstdDecompressor().stream_reader(raw, read_across_frames=True).read()
    at, end = 24, len(raw)
    ply, value_q, packed, counts, moves, scores = [], [], [], [], [], []
    unpack = struct.Struct("<HffH").unpack_from
    while at < end:
        p, _, q, n = unpack(raw, at)
        ply.append(p)
        value_q.append(q)
        packed.append(raw[at + 12 : at + 108])
        counts.append(n)
        body = np.frombuffer(raw, "<u2", 4 * n, at + 108).reshape(n, 4)
        moves.append(body[:, 0])
        scores.append(body[:, 3])
        at += 108 + 8 * n
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    lists = [
        pa.ListArray.from_arrays(offsets, pa.array(np.concatenate(moves))),
        pa.ListArray.from_arrays(offsets, pa.array(np.concatenate(scores).view("<i2"))),
    ]
    return pa.table({
        "packed": pa.array(packed, pa.binary(96)), "ply": pa.array(ply, pa.uint16()),
        "value_q": pa.array(value_q, pa.float32()), "mv": lists[0], "cp": lists[1],
    })  # fmt: skip


def export(streams: Path, out: Path) -> int:
    rows = 0
    for number, path in enumerate(sorted(streams.glob("*.mpk*"))):
        table = records(path)
        rows += table.num_rows
        # Fixed-size binary reads as plain bytes in both.
        table = table.set_column(0, "packed", table["packed"].cast(pa.binary()))
        pq.write_table(table, out / f"{number:05}.parquet", compression="zstd", compression_level=1)
    return rows


DUCKDB = """
copy (
  with moves as (
    select packed, mv, round(avg(cp))::smallint as cp
    from (select packed, unnest(mv) as mv, unnest(cp) as cp from read_parquet('{source}'))
    group by packed, mv
  ), lists as (
    select packed, list({{'mv': mv, 'cp': cp}} order by cp desc, mv) as moves
    from moves group by packed
  ), heads as (
    select packed, min(ply) as ply, avg(value_q)::float as value_q, count(*)::uinteger as weight
    from read_parquet('{source}') group by packed
  ), rows as (
    select heads.*, moves,
      case when list_max(list_transform(moves, lambda m: abs(m.cp))) >= 29680
        then list_transform(moves, lambda m, i: (i = 1)::double)
        else list_transform(moves, lambda m: exp((m.cp - moves[1].cp) / 100.0)) end as terms
    from heads join lists using (packed)
  )
  select packed, ply, value_q, weight, list_transform(
      list_zip(moves, terms),
      lambda z: {{'mv': z[1].mv, 'prob': (z[2] / list_sum(terms))::float, 'cp': z[1].cp}}
    ) as candidates
  from rows order by random()
) to '{out}' (format parquet, compression zstd, compression_level 1, row_group_size 8192)
"""


def run_duckdb(source: str, out: Path, threads: int) -> None:
    db = duckdb.connect(config={"threads": threads, "memory_limit": "12GB", "temp_directory": str(out) + ".tmp"})
    db.execute(DUCKDB.format(source=source, out=out))


def run_polars(source: str, out: Path) -> None:
    frame = pl.scan_parquet(source)
    moves = (
        frame.select("packed", "mv", "cp").explode("mv", "cp").group_by("packed", "mv")
        .agg(pl.col("cp").cast(pl.Float64).mean().round(mode="half_away_from_zero").cast(pl.Int16))
        .sort(["cp", "mv"], descending=[True, False])
        .with_columns(
            pl.when(pl.col("cp").cast(pl.Int32).abs().max().over("packed") >= 29680)
            .then((pl.int_range(pl.len()).over("packed") == 0).cast(pl.Float64))
            .otherwise(((pl.col("cp").cast(pl.Float64) - pl.col("cp").max().over("packed")) / 100.0).exp())
            .alias("term")
        )
        .with_columns(prob=(pl.col("term") / pl.col("term").sum().over("packed")).cast(pl.Float32))
        .group_by("packed", maintain_order=True).agg(candidates=pl.struct("mv", "prob", "cp"))
    )  # fmt: skip
    heads = frame.group_by("packed").agg(pl.col("ply").min(), pl.col("value_q").mean(), weight=pl.len())
    rows = heads.join(moves, on="packed").collect(engine="streaming")
    rows.sample(fraction=1.0, shuffle=True, seed=1).write_parquet(
        out, compression="zstd", compression_level=1, row_group_size=8192, statistics=False
    )


def answer(path: str) -> dict:
    """Figures that agree when the rows do, whatever their order."""
    db = duckdb.connect()
    names = ["rows", "weights", "plies", "values", "candidates", "scores", "best"]
    query = f"""select count(*), sum(weight)::bigint, sum(ply)::bigint, round(sum(value_q::double), 1),
        sum(len(candidates))::bigint, sum(list_sum(list_transform(candidates, lambda c: c.cp::bigint)))::bigint,
        round(sum(candidates[1].prob::double), 1) from read_parquet('{path}') where true"""
    return dict(zip(names, db.execute(query).fetchone()))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("streams", type=Path)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--manaka", type=Path, default=Path("target/release/manaka"))
    parser.add_argument("--without", nargs="*", default=[], choices=["duckdb", "polars"])
    args = parser.parse_args()
    os.environ["POLARS_MAX_THREADS"] = str(args.threads)

    with tempfile.TemporaryDirectory() as work:
        work = Path(work)
        (work / "columns").mkdir()
        count = export(args.streams, work / "columns")
        source = str(work / "columns" / "*.parquet")
        print(f"{count:,} records, {args.threads} threads")

        def ours(out):
            shutil.rmtree(out, ignore_errors=True)
            subprocess.run(
                [args.manaka, "pack", args.streams, "--out", out, "--threads", str(args.threads), "--memory", "12G"],
                check=True, capture_output=True,
            )  # fmt: skip

        runs = {"manaka": (lambda: ours(work / "ours"), str(work / "ours" / "*.parquet"))}
        if "duckdb" not in args.without:
            out = work / "duckdb.parquet"
            runs["duckdb"] = (lambda: run_duckdb(source, out, args.threads), str(out))
        if "polars" not in args.without:
            there = work / "polars.parquet"
            runs["polars"] = (lambda: run_polars(source, there), str(there))

        times: dict[str, list[float]] = {name: [] for name in runs}
        for _ in range(args.repeat):
            for name, (run, _) in runs.items():
                # What was written before is not to be paid for by who comes next.
                os.sync()
                began = time.perf_counter()
                run()
                times[name].append(time.perf_counter() - began)
        expected = answer(runs["manaka"][1])
        print(f"answer: {expected}")
        for name, (_, path) in runs.items():
            found = answer(path)
            agrees = all(abs(found[key] - expected[key]) <= max(1e-6 * abs(expected[key]), 0.2) for key in found)
            best, base = sorted(times[name])[len(times[name]) // 2], sorted(times["manaka"])[len(times["manaka"]) // 2]
            verdict = "same answer" if agrees else f"ANOTHER ANSWER: {found}"
            print(f"{name:8} median {best:7.2f} s  {best / base:6.2f} x manaka  {verdict}  {[round(t, 2) for t in times[name]]}")


if __name__ == "__main__":
    main()
