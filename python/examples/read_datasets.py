"""Load training shards with Hugging Face datasets, from disk: usage `read_datasets.py SHARD.parquet …`."""

import sys

import numpy as np
from datasets import load_dataset

shards = load_dataset("parquet", data_files=sys.argv[1:], split="train")
print(f"{len(shards)} rows: {', '.join(shards.column_names)}")

# As it comes a row is a dict; with the numpy format numbers come as arrays.
row = shards[0]
position = np.frombuffer(row["packed"], np.uint8)
print(f"first row: {position.size} bytes, {len(row['candidates'])} candidates, value_q {row['value_q']:+.3f}")
weights = np.asarray(shards.with_format("numpy")["weight"])
print(f"{weights.sum()} records")
