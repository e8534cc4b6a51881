import pyarrow.parquet as pq

shard = pq.ParquetFile("FILE")
print(shard.schema_arrow.metadata)  # pov, mate_scale, …: look before you mix
for batch in shard.iter_batches(columns=["packed", "value_q", "weight", "candidates"]):
    row = batch.slice(0, 1).to_pylist()[0]
    best = row["candidates"][0]  # by prob, descending
    row["packed"], row["value_q"], best["mv"], best["prob"]
