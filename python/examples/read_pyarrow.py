"""Read training shards with pyarrow: usage `read_pyarrow.py SHARD.parquet`."""

import sys

import pyarrow.parquet as pq

shard = pq.ParquetFile(sys.argv[1])
conventions = shard.schema_arrow.metadata or {}
# Whose view the numbers are in, and what they are measured against: look before you mix shards.
print("pov", conventions[b"pov"].decode(), "mate_scale", conventions[b"mate_scale"].decode())

rows, weight = 0, 0
for batch in shard.iter_batches(batch_size=8192, columns=["packed", "value_q", "weight", "candidates"]):
    rows += len(batch)
    weight += sum(batch["weight"].to_pylist())
print(f"{rows} rows of {weight} records")

first = next(shard.iter_batches(batch_size=1)).to_pylist()[0]
best = max(first["candidates"], key=lambda candidate: candidate["prob"])
print("first row:", first["packed"].hex()[:16], "value_q", first["value_q"], "best move16", best["mv"])
