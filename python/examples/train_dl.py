"""A small residual policy and value network on dlshogi's planes, from shards to ONNX with dlshogi's names and shapes.

    python train_dl.py --train DIR --valid DIR --out model.onnx [--epochs 4 | --steps 400] [--seed 0]

input1 (n, 62, 9, 9), input2 (n, 57, 9, 9) → output_policy (n, 2187) logits, output_value (n, 1) a win rate.
What to expect and what a real run needs is in docs/guide/train.md.
"""

import argparse
import time
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import onnx
import optax
from onnx import TensorProto, helper, numpy_helper

import manaka

BLOCKS, CHANNELS = 4, 32
PLANES1, PLANES2, KINDS, SQUARES = 62, 57, 27, 81
VALUE_CHANNELS, VALUE_HIDDEN = 4, 64

Params = dict  # by name a dict of "w" (out, in, 3, 3), (out, in, 1, 1) or (in, out), and "b" (out,)

# Name, shape of the weights, and what is drawn times 1/√(inputs).
SHAPES = [
    ("in1", (CHANNELS, PLANES1, 3, 3)),
    ("in2", (CHANNELS, PLANES2, 1, 1)),
    *((f"block{at}{half}", (CHANNELS, CHANNELS, 3, 3)) for at in range(BLOCKS) for half in "ab"),
    ("policy", (KINDS, CHANNELS, 1, 1)),
    ("value1", (VALUE_CHANNELS, CHANNELS, 1, 1)),
    ("value2", (VALUE_CHANNELS * SQUARES, VALUE_HIDDEN)),
    ("value3", (VALUE_HIDDEN, 1)),
]


def init(seed: int) -> Params:
    rng, params = np.random.default_rng(seed), {}
    for name, shape in SHAPES:
        inputs = np.prod(shape[1:]) if len(shape) == 4 else shape[0]
        # The second half of a block begins small, and with it the block as what passes through.
        gain = {"policy": 0.5, "value3": 0.5}.get(name, 0.2 if name.endswith("b") else 2**0.5)
        weights = rng.normal(0, gain / inputs**0.5, shape)
        params[name] = {"w": weights.astype(np.float32), "b": np.zeros(shape[0 if len(shape) == 4 else 1], np.float32)}
    # Each of 81 squares has its own bias in the policy, as dlshogi's networks do.
    params["policy"]["b"] = np.zeros(KINDS * SQUARES, np.float32)
    return params


def conv(layer: dict, x: jax.Array, bias: bool = True) -> jax.Array:
    y = jax.lax.conv(x, layer["w"], (1, 1), "SAME")
    return y + layer["b"][:, None, None] if bias else y


def forward(params: Params, first: jax.Array, second: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Policy logits (n, 2187) and the logit of the win rate (n,)."""
    x = jax.nn.relu(conv(params["in1"], first) + conv(params["in2"], second))
    for at in range(BLOCKS):
        y = conv(params[f"block{at}b"], jax.nn.relu(conv(params[f"block{at}a"], x)))
        x = jax.nn.relu(x + y)
    policy = conv(params["policy"], x, bias=False).reshape(len(x), -1) + params["policy"]["b"]
    v = jax.nn.relu(conv(params["value1"], x)).reshape(len(x), -1)
    v = jax.nn.relu(v @ params["value2"]["w"] + params["value2"]["b"])
    return policy, (v @ params["value3"]["w"] + params["value3"]["b"])[:, 0]


def measure(params: Params, batch: dict) -> dict[str, jax.Array]:
    """Sums over the batch: losses by row weight, and what is counted by row."""
    policy, logit = forward(params, batch["first"].astype(jnp.float32), batch["second"].astype(jnp.float32))
    target, weight = (1 + batch["value"]) / 2, batch["weight"]
    # Of both the entropy of the target is taken off: 0 is the best there is.
    xlogx = lambda p: jax.scipy.special.xlogy(p, p)
    value_loss = optax.sigmoid_binary_cross_entropy(logit, target) + xlogx(target) + xlogx(1 - target)
    policy_loss = optax.softmax_cross_entropy(policy, batch["policy"]) + xlogx(batch["policy"]).sum(1)
    return {
        "weight": weight.sum(),
        "value": (weight * value_loss).sum(),
        "policy": (weight * policy_loss).sum(),
        "rows": jnp.float32(len(logit)),
        "top1": (policy.argmax(1) == batch["policy"].argmax(1)).sum(),
        "signed": (batch["value"] != 0).sum(),
        "right": ((jnp.sign(logit) == jnp.sign(batch["value"])) & (batch["value"] != 0)).sum(),
    }


def make_step(optimizer: optax.GradientTransformation):
    def loss(params: Params, batch: dict):
        sums = measure(params, batch)
        return (sums["value"] + sums["policy"]) / sums["weight"], sums

    @jax.jit
    def step(params: Params, state, batch: dict):
        (_, sums), grads = jax.value_and_grad(loss, has_aux=True)(params, batch)
        updates, state = optimizer.update(grads, state, params)
        return optax.apply_updates(params, updates), state, sums

    return step


def figures(sums: list[dict]) -> tuple[float, float, float, float]:
    """Value loss, policy loss, sign accuracy, policy top-1."""
    s = {name: float(sum(float(one[name]) for one in sums)) for name in sums[0]}
    return s["value"] / s["weight"], s["policy"] / s["weight"], s["right"] / max(s["signed"], 1), s["top1"] / s["rows"]


def make_loader(path: Path, args: argparse.Namespace, train: bool) -> manaka.Loader:
    return manaka.Loader(
        path,
        batch_size=args.batch,
        features="planes_u8",
        policy="dense",
        blend=args.blend,
        outcome_absent=args.outcome_absent,
        order="shuffled" if train else "written",
        mirror="half" if train else "never",
        last_batch="drop" if train else "deliver",
        seed=args.seed,
        threads=args.threads,
    )


def export(params: Params, path: Path) -> None:
    """Writes what `forward` computes, and the sigmoid of the value, as ONNX."""
    params = jax.device_get(params)
    weights, nodes = [], []

    def constant(name: str, array: np.ndarray) -> str:
        weights.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def node(kind: str, inputs: list[str], output: str, **attributes) -> str:
        nodes.append(helper.make_node(kind, inputs, [output], **attributes))
        return output

    def conv(name: str, x: str, bias: bool = True) -> str:
        of = [x, constant(f"{name}.w", params[name]["w"])]
        of += [constant(f"{name}.b", params[name]["b"])] if bias else []
        return node("Conv", of, name, pads=[params[name]["w"].shape[2] // 2] * 4)

    def linear(name: str, x: str, output: str) -> str:
        of = [x, constant(f"{name}.w", params[name]["w"]), constant(f"{name}.b", params[name]["b"])]
        return node("Gemm", of, output)

    x = node("Relu", [node("Add", [conv("in1", "input1"), conv("in2", "input2")], "in")], "x")
    for at in range(BLOCKS):
        y = node("Relu", [conv(f"block{at}a", x)], f"y{at}")
        x = node("Relu", [node("Add", [x, conv(f"block{at}b", y)], f"sum{at}")], f"x{at}")
    flat = node("Flatten", [conv("policy", x, bias=False)], "policy.flat")
    node("Add", [flat, constant("policy.b", params["policy"]["b"])], "output_policy")
    v = node("Flatten", [node("Relu", [conv("value1", x)], "v1")], "v.flat")
    v = node("Relu", [linear("value2", v, "value2")], "v2")
    node("Sigmoid", [linear("value3", v, "value3")], "output_value")

    tensor = lambda name, *shape: helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch", *shape])
    graph = helper.make_graph(
        nodes,
        "manaka",
        [tensor("input1", PLANES1, 9, 9), tensor("input2", PLANES2, 9, 9)],
        [tensor("output_policy", KINDS * SQUARES), tensor("output_value", 1)],
        weights,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.checker.check_model(model)
    onnx.save(model, path)


def main(arguments: list[str] | None = None) -> dict:
    """Trains and writes the file. Returns the figures and parameters of the best epoch."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--train", type=Path, required=True)
    parser.add_argument("--valid", type=Path, required=True, help="shards of other games")
    parser.add_argument("--out", type=Path, required=True, help="the ONNX file to write")
    parser.add_argument("--epochs", type=int, default=4, help="at most")
    parser.add_argument("--steps", type=int, help="at most, whatever the epochs")
    parser.add_argument("--patience", type=int, default=2, help="epochs without a better validation loss, then stop")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--rate", type=float, default=2e-3, help="AdamW's, falling by a cosine to 0")
    parser.add_argument("--blend", type=float, default=1.0, help="share of the search's value; the rest is the outcome")
    parser.add_argument("--outcome-absent", choices=["refuse", "search"], default="refuse")
    parser.add_argument("--threads", type=int)
    args = parser.parse_args(arguments)

    train, valid = make_loader(args.train, args, True), make_loader(args.valid, args, False)
    last = min(args.steps or 1 << 62, args.epochs * len(train))
    print(f"{train.rows} positions, {valid.rows} to validate; {last} steps of {args.batch}")

    params = init(args.seed)
    optimizer = optax.adamw(optax.cosine_decay_schedule(args.rate, last), weight_decay=1e-4)
    state, step, evaluate = optimizer.init(params), make_step(optimizer), jax.jit(measure)

    best, worse, steps, begun = None, 0, 0, time.time()
    for epoch in range(args.epochs):
        sums = []
        for batch in train:
            if steps == last:
                break
            params, state, sum_ = step(params, state, batch)
            sums.append(jax.device_get(sum_))
            steps += 1
        trained = figures(sums)
        value, policy, sign, top1 = figures([evaluate(params, batch) for batch in valid])
        print(
            f"epoch {epoch + 1}, step {steps}, {time.time() - begun:.0f} s: "
            f"loss {trained[0]:.4f} + {trained[1]:.4f}, validation loss {value:.4f} + {policy:.4f} (value + policy), "
            f"sign accuracy {sign:.3f}, policy top-1 {top1:.3f}",
            flush=True,
        )
        if best is None or value + policy < best[0]:
            best, worse = (value + policy, sign, top1, jax.device_get(params)), 0
        else:
            worse += 1
        if steps == last or worse > args.patience:
            break

    loss, sign, top1, params = best
    export(params, args.out)
    print(f"{args.out}: validation loss {loss:.4f}, sign accuracy {sign:.3f}, policy top-1 {top1:.3f}")
    return {"loss": loss, "sign": sign, "top1": top1, "params": params}


if __name__ == "__main__":
    main()
