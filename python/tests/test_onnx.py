"""Networks in ONNX as evaluators: what the example trains plays, and says what onnxruntime says from Python.

The planes and labels here are cshogi's, so that nothing of what is tested is on both sides. The binary has to be built
with the feature (`cargo build --release -p manaka --features onnx`), and the program with the numbers by `cargo build
--release -p manaka-onnx --example onnx_lines` (MANAKA_ONNX_LINES names another). A missing one is a failure.
"""

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import cshogi
import cshogi.dlshogi as dlshogi
import numpy as np
import onnx
import onnxruntime
import pytest
import xxhash

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples"))
import train_dl  # noqa: E402

CAPI = Path(onnxruntime.__file__).parent / "capi"
QUICK = ["--games", "5", "--search", "gumbel", "--simulations", "8", "--max-ply", "24"]


@pytest.fixture(scope="session")
def network(split, tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("onnx") / "model.onnx"
    arguments = ["--train", str(split / "train"), "--valid", str(split / "valid"), "--out", str(out), "--steps", "3"]
    train_dl.main(arguments)
    return out


@pytest.fixture
def changed(network, tmp_path):
    """The network after a change to its graph."""

    def change(how) -> Path:
        model = onnx.load(network)
        how(model.graph)
        path = tmp_path / "changed.onnx"
        onnx.save(model, path)
        return path

    return change


@pytest.fixture
def run(command):
    """Runs the binary with a library of ONNX Runtime to be found in no way but those that are given."""

    def run(*arguments, **variables) -> subprocess.CompletedProcess:
        left_out = ("ORT_DYLIB_PATH", "VIRTUAL_ENV", "PATH")
        environment = {name: value for name, value in os.environ.items() if name not in left_out}
        environment |= {"PATH": "/nowhere"} | {name: str(value) for name, value in variables.items()}
        line = [command, *map(str, arguments)]
        done = subprocess.run(line, env=environment, capture_output=True, text=True, timeout=600)
        assert "panicked" not in done.stderr and done.returncode in (0, 1, 2), (done.returncode, done.stderr)
        return done

    return run


@pytest.fixture
def refused(run, tmp_path):
    """What self-play says that cannot begin, and leaves nothing behind."""

    def refused(net, *arguments, **variables) -> str:
        out = tmp_path / "refused"
        done = run("selfplay", "--evaluator", "onnx", "--net", net, *QUICK, "--out", out, *arguments, **variables)
        assert done.returncode == 1 and not out.exists(), done.stderr
        return done.stderr

    return refused


@pytest.fixture(scope="session")
def lines(root):
    """Asks the evaluator about positions."""
    program = Path(os.environ.get("MANAKA_ONNX_LINES") or root / "target/release/examples/onnx_lines").resolve()
    if not program.is_file():
        pytest.fail(f"{program} does not exist; build it, or point MANAKA_ONNX_LINES at it", pytrace=False)

    def ask(network: Path, boards: list, batch: int) -> str:
        sfens = "".join(board.sfen() + "\n" for board in boards)
        line = [program, CAPI, network, str(batch)]
        return subprocess.run(line, input=sfens, capture_output=True, text=True, check=True).stdout

    return ask


@pytest.fixture(scope="session")
def boards() -> list:
    """Positions of games of random moves: both sides to move, checks, drops and promotions among them."""
    draws, boards = random.Random(11), []
    while len(boards) < 403:
        board = cshogi.Board()
        for _ in range(draws.randrange(1, 160)):
            moves = list(board.legal_moves)
            if not moves:
                break
            board.push(draws.choice(moves))
        if not board.is_game_over():
            boards.append(board)
    assert 100 < sum(board.turn for board in boards) < 300
    return boards


def test_it_says_what_onnxruntime_says_from_python(network, boards, lines):
    first = np.zeros((len(boards), 62, 9, 9), np.float32)
    second = np.zeros((len(boards), 57, 9, 9), np.float32)
    for board, *rows in zip(boards, first, second):
        dlshogi.make_input_features(board, *rows)
    session = onnxruntime.InferenceSession(network, providers=["CPUExecutionProvider"])
    policy, value = session.run(["output_policy", "output_value"], {"input1": first, "input2": second})
    assert np.ptp(policy) > 0.1 and np.ptp(value) > 1e-3, "a network that says the same of everything proves nothing"

    answers = lines(network, boards, 16).splitlines()
    assert len(answers) == len(boards)
    for board, answer, logits, win_rate in zip(boards, answers, policy, value[:, 0]):
        said, *moves = answer.split("\t")
        assert abs(float(said) - (2 * win_rate - 1)) < 1e-5
        of_moves = {move: float(logit) for move, logit in (text.split("=") for text in moves)}
        labels = {cshogi.move_to_usi(move): dlshogi.make_move_label(move, board.turn) for move in board.legal_moves}
        assert of_moves.keys() == labels.keys()
        for move, label in labels.items():
            assert abs(of_moves[move] - logits[label]) < 1e-5, (board.sfen(), move)


def test_a_position_has_the_same_bits_in_batches_of_any_size_and_in_batches_that_are_filled_up(
    network, boards, lines, changed
):
    def fixed(graph):
        for tensor in [*graph.input, *graph.output]:
            tensor.type.tensor_type.shape.dim[0].dim_value = 16

    alone = lines(network, boards, 1)
    for batch in (7, 16, 64):
        assert lines(network, boards, batch) == alone
    # 403 positions are 25 batches of 16 and three positions. Asked 64 at a time, they are cut.
    for batch in (16, 64):
        assert lines(changed(fixed), boards, batch) == alone


def test_games_are_the_same_on_any_number_of_threads_and_in_any_batches(network, run, tmp_path):
    streams = set()
    for threads, batch in [(1, 16), (2, 1), (2, 16)]:
        out = tmp_path / f"{threads}-{batch}"
        done = run(
            *["selfplay", "--evaluator", "onnx", "--net", network, *QUICK, "--out", out],
            *["--threads", threads, "--batch", batch, "--onnxruntime", CAPI],
        )
        assert done.returncode == 0, done.stderr
        streams.add((out / "games.mpk").read_bytes())
        evaluator = json.loads((out / "selfplay.json").read_text())["settings"]["evaluator"]
        hash_ = xxhash.xxh3_64_hexdigest(network.read_bytes())
        assert evaluator == {"name": "onnx", "net": f"xxh3:{hash_}", "provider": "cpu"}
    assert len(streams) == 1 and len(streams.pop()) > 10_000
    shards = tmp_path / "shards"
    assert run("pack", out, "--out", shards, "--prefix", "selfplay").returncode == 0
    done = run("check", out, shards)
    assert done.returncode == 0, done.stdout + done.stderr
    # One run, one network.
    done = run("selfplay", *QUICK, "--out", out, "--resume")
    assert done.returncode == 1 and "evaluator.name" in done.stderr


def test_a_match_takes_networks_as_players(network, run):
    reports = set()
    for threads in (1, 2):
        players = ["--a", network, "--b", f"policy:{network}", "--games", 4, "--playouts", 4, "--max-ply", 30]
        done = run("match", *players, "--threads", threads, "--onnxruntime", CAPI, "--format", "json")
        assert done.returncode == 0, done.stderr
        reports.add(done.stdout)
    (report,) = reports
    report = json.loads(report)
    assert report["players"][0].startswith("PUCT 4 over onnx xxh3:"), report["players"]
    assert sum(report["score"][key] for key in ("wins", "draws", "losses")) == 4


def test_the_library_is_found_by_option_variable_and_python(network, run, refused, tmp_path):
    (library,) = CAPI.glob("libonnxruntime.so*")
    play = ["selfplay", "--evaluator", "onnx", "--net", network, "--games", 1, "--playouts", 1, "--max-ply", 2]
    ways = [
        (["--onnxruntime", library], {"ORT_DYLIB_PATH": "/nowhere/x.so"}),
        (["--onnxruntime", CAPI], {}),
        ([], {"ORT_DYLIB_PATH": library}),
        ([], {"VIRTUAL_ENV": sys.prefix}),
        ([], {"PATH": Path(sys.executable).parent}),
    ]
    for at, (options, variables) in enumerate(ways):
        done = run(*play, *options, "--out", tmp_path / f"way{at}", **variables)
        assert done.returncode == 0, (at, done.stderr)
    said = refused(network)
    assert "pip install onnxruntime`" in said and "--onnxruntime" in said and "python3" in said


def test_what_is_no_library_or_too_old_is_said_with_its_path(network, refused, tmp_path):
    missing, text, old = (tmp_path / name for name in ("missing.so", "text.so", "old.so"))
    text.write_text("no library")
    source = tmp_path / "old.c"
    source.write_text(
        "static const char *version(void) { return \"1.10.0\"; }\n"
        "static const void *api(unsigned wanted) { (void)wanted; return 0; }\n"
        "static const struct { const void *(*api)(unsigned); const char *(*version)(void); } base = { api, version };\n"
        "const void *OrtGetApiBase(void) { return &base; }\n"
    )
    subprocess.run(["cc", "-shared", "-fPIC", "-o", old, source], check=True)
    # Python's own module: a library, and another one.
    other = next(Path(np.__file__).parent.glob("_core/_multiarray_umath*.so"))
    for path, words in [(missing, "No such file"), (text, ""), (old, "1.10.0"), (other, ""), (tmp_path, "none in this")]:
        for said in (refused(network, "--onnxruntime", path), refused(network, ORT_DYLIB_PATH=path)):
            assert str(path) in said and words in said and "pip install onnxruntime`" in said, said


def test_a_provider_that_is_not_there_is_an_error_and_nothing_runs_on_another(network, refused):
    for provider in ("cuda", "tensorrt"):
        said = refused(network, "--provider", provider, "--onnxruntime", CAPI)
        assert f"the provider {provider} is not to be had" in said and "onnxruntime-gpu" in said, said


def test_another_network_is_refused_with_what_it_has(changed, refused, tmp_path):
    def renamed(graph):
        for node in graph.node:
            node.input[:] = ["board" if name == "input1" else name for name in node.input]
        graph.input[0].name = "board"

    def without_value(graph):
        (node,) = [node for node in graph.node if node.op_type == "Sigmoid"]
        node.output[0] = graph.output[1].name = "win_rate"

    def signed(graph):
        (node,) = [node for node in graph.node if node.op_type == "Sigmoid"]
        node.op_type = "Tanh"
        (bias,) = [tensor for tensor in graph.initializer if tensor.name == "value3.b"]
        bias.CopyFrom(onnx.numpy_helper.from_array(np.array([-9], np.float32), "value3.b"))

    here = ("--onnxruntime", CAPI)
    said = refused(changed(renamed), *here)
    assert "board f32[n,62,9,9]" in said and "wanted: input1 f32[n,62,9,9], input2 f32[n,57,9,9]" in said, said
    said = refused(changed(without_value), *here)
    assert "win_rate f32[n,1]" in said and "output_value f32[n,1]" in said, said
    assert "no win rate" in refused(changed(signed), *here)
    nonsense = tmp_path / "nonsense.onnx"
    nonsense.write_bytes(b"nonsense")
    assert "nonsense.onnx" in refused(nonsense, *here)
    assert "missing.onnx" in refused(tmp_path / "missing.onnx", *here)


def test_options_for_such_networks_are_refused_where_there_is_none(run, tmp_path):
    out = ["--out", tmp_path / "out", *QUICK]
    for line in (
        ["selfplay", "--provider", "cpu", *out],
        ["selfplay", "--evaluator", "onnx", *out],
        ["match", "--a", "kp256", "--b", "random", "--onnxruntime", CAPI],
    ):
        assert run(*line).returncode == 2
