"""The evaluator `onnx` beside onnxruntime driven from Python: the same library, network, positions and batches, one run.

    python benches/python/onnx_side_by_side.py SHARDS [--net FILE] [--rate PATH] [--batch N …] [--seconds S] [--repeat N]

Each figure is evaluations a second of processor time on one thread, the median of the turns, which alternate. Python is
handed planes that are made already, and what it gets it throws away; the evaluator makes its planes from the 96 bytes
and picks the logits of the legal moves. Without --net it is the network of python/examples/train_dl.py, untrained.
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import onnxruntime

import manaka

ROOT = Path(__file__).resolve().parents[2]
CAPI = Path(onnxruntime.__file__).parent / "capi"
POSITIONS = 4096


def positions(shards: Path) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    loader = manaka.Loader(shards, batch_size=POSITIONS, features="planes", columns=["packed"], order="shuffled")
    batch = next(iter(loader))
    return batch["packed"], batch["first"], batch["second"]


def from_python(net: Path, first: np.ndarray, second: np.ndarray, batch: int, seconds: float) -> float:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(net, options, providers=["CPUExecutionProvider"])
    done, turn = 0, 0
    begun, before = time.perf_counter(), time.process_time()
    while turn < 10 or time.perf_counter() - begun < seconds:
        if turn == 10:
            done, begun, before = 0, time.perf_counter(), time.process_time()
        at = turn * batch % (POSITIONS - batch + 1)
        session.run(None, {"input1": first[at : at + batch], "input2": second[at : at + batch]})
        done, turn = done + batch, turn + 1
    return done / (time.process_time() - before)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shards", type=Path)
    parser.add_argument("--net", type=Path)
    parser.add_argument("--rate", type=Path, default=ROOT / "target/release/onnx-rate", help="the program that times Rust")
    parser.add_argument("--batch", type=int, nargs="+", default=[1, 16, 64])
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--repeat", type=int, default=5)
    args = parser.parse_args()

    with tempfile.TemporaryDirectory() as directory:
        net, packed_path = args.net, Path(directory) / "positions"
        if net is None:
            sys.path.insert(0, str(ROOT / "python/examples"))
            import train_dl

            net = Path(directory) / "net.onnx"
            train_dl.export(train_dl.init(0), net)
        packed, first, second = positions(args.shards)
        packed_path.write_bytes(packed.tobytes())
        print(f"onnxruntime {onnxruntime.__version__}")
        print("| batch | from Python | evaluator | of Python's |\n|---|---|---|---|")
        for batch in args.batch:
            python, rust = [], []
            for _ in range(args.repeat):
                python.append(from_python(net, first, second, batch, args.seconds))
                line = [args.rate, net, packed_path, "--onnxruntime", CAPI]
                line += ["--batch", str(batch), "--seconds", str(args.seconds)]
                rust.append(float(subprocess.run(line, capture_output=True, text=True, check=True).stdout))
            python, rust = statistics.median(python), statistics.median(rust)
            print(f"| {batch} | {python:.0f} | {rust:.0f} | {rust / python:.0%} |", flush=True)


if __name__ == "__main__":
    main()
