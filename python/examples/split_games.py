"""Cuts a corpus in two by games: positions of one game are alike, and a network that saw half of a game knows the rest.

    python split_games.py corpus.parquet OUT [--valid 10] [--seed 0]

OUT/valid.parquet gets every game whose draw falls below --valid per cent, OUT/train.parquet the others, in order.
A game begins where `ply` does not increase (docs/spec/corpus.md).
"""

import argparse
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--valid", type=float, default=10, help="per cent of the games")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()

    rows = pq.read_table(args.corpus)
    ply = rows["ply"].to_numpy().astype(int)
    game = np.concatenate([[0], np.cumsum(np.diff(ply) <= 0)])
    held_out = np.random.default_rng(args.seed).random(game[-1] + 1) < args.valid / 100
    args.out.mkdir(parents=True, exist_ok=True)
    for name, of in (("valid", held_out), ("train", ~held_out)):
        part = rows.filter(pa.array(of[game]))
        pq.write_table(part, args.out / f"{name}.parquet")
        print(f"{name}: {of.sum()} games, {part.num_rows} positions")


if __name__ == "__main__":
    main()
