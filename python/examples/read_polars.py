"""Scan training shards with Polars, without reading what is not asked for: usage `read_polars.py SHARD.parquet …`."""

import sys

import polars as pl

shards = pl.scan_parquet(sys.argv[1:])
totals = shards.select(pl.len().alias("rows"), pl.col("weight").sum(), pl.col("ply").mean()).collect()
rows, weight, ply = totals.row(0)
print(f"{rows} rows of {weight} records, mean ply {ply:.1f}")

decided = shards.select((pl.col("value_q").abs() > 0.9).mean()).collect().item()
widest = shards.select(pl.col("candidates").list.len().max()).collect().item()
print(f"{decided:.1%} of the rows are as good as decided; at most {widest} candidates")
