import pyarrow.parquet as pq

for batch in pq.ParquetFile("FILE").iter_batches(columns=["sfen", "cp", "cand_move", "cand_cp", "result"]):
    row = batch.slice(0, 1).to_pylist()[0]
    row["sfen"], row["cp"], row["cand_move"], row["result"]
