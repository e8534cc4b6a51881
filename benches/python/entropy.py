"""What each column of a shard costs, and the entropy under it.

    python benches/python/entropy.py SHARD

The entropy is that of the values taken one by one (order 0), in bytes a row, under the model named beside it: what an ideal
coder that knows this distribution and nothing else would need. General compression goes below it where it sees more.
"""

import sys

import numpy as np
import pyarrow.parquet as pq


def entropy(values: np.ndarray) -> float:
    """Bits a value."""
    counts = np.unique(values, return_counts=True)[1]
    shares = counts / counts.sum()
    return float(-(shares * np.log2(shares)).sum())


def main() -> None:
    file = pq.ParquetFile(sys.argv[1])
    rows = file.metadata.num_rows
    costs: dict[str, int] = {}
    for group in range(file.num_row_groups):
        for at in range(file.metadata.num_columns):
            column = file.metadata.row_group(group).column(at)
            costs[column.path_in_schema] = costs.get(column.path_in_schema, 0) + column.total_compressed_size

    # Half a million rows tell.
    groups = list(range(min(file.num_row_groups, 64)))
    table = file.read_row_groups(groups).combine_chunks()
    count = table.num_rows
    packed = np.frombuffer(b"".join(table["packed"].to_pylist()), np.uint8).reshape(count, 96)
    lists = table["candidates"].combine_chunks()
    flat = lists.flatten()
    mv = flat.field("mv").to_numpy()
    cp = flat.field("cp").to_numpy(zero_copy_only=False)
    offsets = lists.offsets.to_numpy() - lists.offsets[0].as_py()
    first = np.zeros(len(mv), bool)
    first[offsets[:-1]] = True

    per_row = len(mv) / count
    square_by_square = sum(entropy(packed[:, at]) for at in range(96)) / 8
    lengths = entropy(np.diff(offsets)) / 8
    floors = {
        "packed": (square_by_square, "every byte by its own distribution"),
        "ply": (entropy(table["ply"].to_numpy()) / 8, "its distribution"),
        "value_q": (entropy(table["value_q"].to_numpy()) / 8, "its distribution"),
        "weight": (entropy(table["weight"].to_numpy()) / 8, "its distribution"),
        "candidates.list.element.mv": (entropy(mv) * per_row / 8 + lengths, "its distribution, and list lengths"),
        "candidates.list.element.prob": (0.0 if cp.dtype != object else entropy(flat.field("prob").to_numpy()) * per_row / 8,
                                         "follows from cp and the footer"),
    }  # fmt: skip
    if cp.dtype != object:
        drops = np.diff(cp.astype(np.int32), prepend=0)
        floors["candidates.list.element.cp"] = (
            (entropy(cp[first]) + entropy(drops[~first]) * (per_row - 1)) / 8, "the first, then the drop to the next",
        )  # fmt: skip
    print(f"{rows:,} rows, {per_row:.2f} candidates a row; entropy over {count:,} rows\n")
    print("| column | bytes a row | entropy | model |\n|---|---|---|---|")
    for name, (floor, model) in floors.items():
        print(f"| `{name}` | {costs[name] / rows:.2f} | {floor:.2f} | {model} |")
    print(f"| all | {sum(costs.values()) / rows:.2f} | {sum(floor for floor, _ in floors.values()):.2f} | |")


if __name__ == "__main__":
    main()
