"""The loop closed: both trainers learn from shards, and what they export says what they learned.

MANAKA_NN names the evaluator (default: target/release/examples/nn_lines under the repository root, built by
`cargo build --release -p manaka-eval --example nn_lines`). A missing one is a failure.
"""

import os
import subprocess
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import onnxruntime
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import manaka

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples"))
import train_dl  # noqa: E402
import train_nnue  # noqa: E402

# Enough to tell a network that learned from one that did not.
SHORT = ["--steps", "100", "--epochs", "99", "--batch", "1024", "--rate", "0.003"]


@pytest.fixture(scope="session")
def evaluator(root) -> Path:
    path = Path(os.environ.get("MANAKA_NN") or root / "target/release/examples/nn_lines").resolve()
    if not path.is_file():
        pytest.fail(f"{path} does not exist; build it, or point MANAKA_NN at it", pytrace=False)
    return path


@pytest.fixture(scope="session")
def trained(split, tmp_path_factory) -> dict:
    out = tmp_path_factory.mktemp("nnue") / "nn.bin"
    arguments = ["--train", str(split / "train"), "--valid", str(split / "valid"), "--out", str(out), *SHORT]
    return train_nnue.main(arguments) | {"path": out}


def positions(shards: Path) -> set[bytes]:
    return {row for path in shards.glob("*.parquet") for row in pq.read_table(path)["packed"].to_pylist()}


def test_the_split_has_no_position_twice_and_loses_no_game(split, root):
    train, valid = positions(split / "train"), positions(split / "valid")
    assert not train & valid
    assert len(valid) > 3000 and len(train) > 8 * len(valid)
    parts = [pq.read_table(split / f"games/{name}.parquet") for name in ("train", "valid")]
    corpus = pq.read_table(root / "examples/corpus.parquet")
    assert sum(part.num_rows for part in parts) == corpus.num_rows
    for part in parts:
        # The rows of a game stay together: a part begins as many games as its draws gave it.
        assert part["sfen"][0].as_py() in set(corpus["sfen"].to_pylist())


def test_a_short_training_learns_the_sign(trained):
    losses = [loss for loss, _ in trained["epochs"]]
    assert losses[-1] < losses[0]
    assert trained["sign"] > 0.65, trained["sign"]


def test_on_values_with_the_sign_flipped_it_is_below_chance(split, tmp_path):
    """The metric can fail: the same training on shards that say the opposite."""
    flipped = tmp_path / "flipped"
    flipped.mkdir()
    for path in (split / "train").glob("*.parquet"):
        table = pq.read_table(path)
        at = table.schema.get_field_index("value_q")
        field, values = table.schema.field(at), table.column(at).to_numpy()
        turned = table.set_column(at, field, pa.array(-values, pa.float32()))
        # The footer states what it stated; nothing but the values differs.
        footer = {key: value for key, value in table.schema.metadata.items() if key != b"ARROW:schema"}
        with pq.ParquetWriter(flipped / path.name, turned.schema, store_schema=False) as writer:
            writer.write_table(turned, row_group_size=8192)
            writer.add_key_value_metadata(footer)
    arguments = ["--train", str(flipped), "--valid", str(split / "valid"), "--out", str(tmp_path / "nn.bin"), *SHORT]
    assert train_nnue.main(arguments)["epochs"][-1][1] < 0.35


def test_the_file_says_in_rust_what_the_trained_network_says(trained, split, evaluator, tmp_path):
    loader = manaka.Loader(split / "valid", batch_size=2048, features="halfkp", columns=["packed"])
    packed, floats, integers, table = [], [], [], jnp.asarray(trained["table"])
    for batch in loader:
        packed.append(batch["packed"])
        integers.append(train_nnue.integer_outputs(trained["net"], batch["mover"], batch["opponent"]))
        (numbered,) = train_nnue.batches([batch])
        own = train_nnue.gather(table, numbered["used"])
        rows = train_nnue.effective_rows(trained["params"], own, numbered["used"])
        floats.append(train_nnue.forward(trained["params"], rows, numbered["places"]))
    packed, floats, integers = map(np.concatenate, (packed, floats, integers))
    assert len(packed) > 5000

    (tmp_path / "positions").write_bytes(packed.tobytes())
    run = subprocess.run(
        [evaluator, trained["path"], str(train_nnue.FV_SCALE), "--packed", tmp_path / "positions"],
        capture_output=True,
        text=True,
        check=True,
    )
    rust = np.array([line.split("\t") for line in run.stdout.splitlines()], int)
    # Integer for integer with the file's numbers; centipawns are rounded towards 0.
    np.testing.assert_array_equal(rust[:, 0], integers)
    np.testing.assert_array_equal(rust[:, 1], np.trunc(integers / train_nnue.FV_SCALE))
    assert len(np.unique(integers)) > 1000

    # Floats are trained as the file holds them; what is left are sums that end on another side of a step of 1/127.
    error = np.abs(rust[:, 0] / train_nnue.FV_SCALE - floats * train_nnue.OUTPUT_CP)
    print(f"centipawns between floats and integers: mean {error.mean():.2f}, most {error.max():.2f}")
    assert error.mean() < 1 and error.max() < 20


def test_the_file_lies_as_the_page_says(trained):
    data = trained["path"].read_bytes()
    assert len(data) == 64_217_066
    assert data[:12] == bytes.fromhex("162ff37a eea65a3e b2000000")
    assert data[12:190].startswith(b"Features=HalfKP(Friend)[125388->256x2],Network=AffineTransform[1<-32](")
    assert data[190:194] == bytes.fromhex("b8d7695d") and data[64_199_362:64_199_366] == bytes.fromhex("56713363")


@pytest.mark.parametrize("script", ["train_nnue", "train_dl"])
def test_a_script_runs_for_a_few_steps(script, split, root, tmp_path):
    out = tmp_path / "network"
    command = [sys.executable, root / f"python/examples/{script}.py", "--train", split / "train"]
    command += ["--valid", split / "valid", "--out", out, "--steps", "2", "--seed", "3"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr
    assert "step 2," in run.stdout and "sign accuracy 0." in run.stdout, run.stdout
    assert out.stat().st_size > 100_000


def test_onnx_says_what_the_trained_network_says(split, tmp_path):
    out = tmp_path / "model.onnx"
    arguments = ["--train", str(split / "train"), "--valid", str(split / "valid"), "--out", str(out), "--steps", "3"]
    params = train_dl.main(arguments)["params"]
    session = onnxruntime.InferenceSession(out, providers=["CPUExecutionProvider"])
    shapes = {tensor.name: tensor.shape[1:] for tensor in session.get_inputs() + session.get_outputs()}
    assert shapes == {"input1": [62, 9, 9], "input2": [57, 9, 9], "output_policy": [2187], "output_value": [1]}

    batch = next(iter(manaka.Loader(split / "valid", batch_size=300, features="planes")))
    policy, value = session.run(["output_policy", "output_value"], {"input1": batch["first"], "input2": batch["second"]})
    logits, win = train_dl.forward(params, batch["first"], batch["second"])
    np.testing.assert_allclose(policy, logits, atol=2e-4)
    np.testing.assert_allclose(value, jax.nn.sigmoid(win)[:, None], atol=1e-5)
    assert value.shape == (300, 1) and np.ptp(value) > 1e-4
