"""Query training shards with DuckDB: usage `read_duckdb.py SHARD.parquet …`."""

import sys

import duckdb

shards = duckdb.read_parquet(sys.argv[1:])
[(rows, records, ply)] = duckdb.sql("select count(*), sum(weight), avg(ply) from shards").fetchall()
print(f"{rows} rows of {records} records, mean ply {ply:.1f}")

# The policy is a list of (mv, prob, cp): unnest it to ask about moves.
query = """
    select candidate.mv as mv, count(*) as rows, avg(candidate.prob) as prob
    from (select unnest(candidates) as candidate from shards)
    group by mv order by rows desc, mv limit 3
"""
for mv, count, prob in duckdb.sql(query).fetchall():
    print(f"move16 {mv}: in {count} rows, mean prob {prob:.3f}")
