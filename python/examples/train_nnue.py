"""HalfKP-256x2-32-32 from shards to an `nn.bin` that YaneuraOu's family of engines loads, at FV_SCALE 16.

    python train_nnue.py --train DIR --valid DIR --out nn.bin [--epochs 8 | --steps 400] [--seed 0]

The network is docs/spec/nnbin.md's; what to expect and what a real run needs is in docs/guide/train.md.
"""

import argparse
import functools
import struct
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import optax

import manaka

KINGS, P = 81, 1548
INPUTS, HALF, HIDDEN = KINGS * P, 256, 32
FV_SCALE = 16
# The integers of a file: 1 is 127 in activations and in the feature transformer, 64 in the weights of later layers, and
# their product in those layers' biases. Training sees every number rounded so (`snap`), or the file would be 18 cp off.
ONE, WEIGHT = 127, 64
OUTPUT_CP = ONE * WEIGHT / FV_SCALE  # an output of 1 is 508 cp
LAYERS = ("hidden1", "hidden2", "output")
# What i8 holds, and what 38 rows and a bias may be for i16 not to overflow.
WEIGHT_LIMIT, ROW_LIMIT = 127 / WEIGHT, 32767 / ONE / 80

Params = dict  # "bias" (256,), "p" (1548, 256), and of each layer "w" (out, in) and "b" (out,)


# ---- the network


def init(seed: int) -> Params:
    """All but the rows of HalfKP, which begin as zeros: a piece is worth the same wherever the king is, at first."""
    keys = jax.random.split(jax.random.key(seed), 4)
    uniform = lambda key, shape, limit: jax.random.uniform(key, shape, minval=-limit, maxval=limit)
    params = {"bias": jnp.full(HALF, 0.3), "p": uniform(keys[0], (P, HALF), 0.1)}
    for key, name, shape in zip(keys[1:], LAYERS, [(HIDDEN, 2 * HALF), (HIDDEN, HIDDEN), (1, HIDDEN)]):
        params[name] = {"w": uniform(key, shape, (2 / shape[1]) ** 0.5), "b": jnp.full(shape[0], 0.1)}
    params["output"]["b"] = jnp.zeros(1)
    return params


def snap(x: jax.Array, one: int) -> jax.Array:
    """x as the file holds it, in steps of 1/one; the gradient is that of x itself."""
    return x + jax.lax.stop_gradient(jnp.floor(x * one + 0.5) / one - x)


def forward(params: Params, rows: jax.Array, places: jax.Array) -> jax.Array:
    """Outputs (n,). `rows` (u, 256) are those of the features at hand; `places` (2, n, 38) which of them a position
    sets, for the mover and its opponent. The last row is the pad's, zeros."""
    x = jnp.clip(snap(rows, ONE)[places].sum(2) + snap(params["bias"], ONE), 0, 1)  # (2, n, 256)
    x = jnp.concatenate([x[0], x[1]], axis=1)
    for name in LAYERS:
        x = x @ snap(params[name]["w"], WEIGHT).T + snap(params[name]["b"], ONE * WEIGHT)
        x = x if name == "output" else snap(jnp.clip(x, 0, 1), ONE)
    return x[:, 0]


def loss_of(params: Params, rows: jax.Array, batch: dict, scale: float) -> tuple[jax.Array, jax.Array]:
    """Cross entropy of win probabilities, less what the target itself has; the outputs beside it."""
    outputs = forward(params, rows, batch["places"])
    target = (1 + batch["value"]) / 2
    entropy = -(jax.scipy.special.xlogy(target, target) + jax.scipy.special.xlogy(1 - target, 1 - target))
    losses = optax.sigmoid_binary_cross_entropy(outputs * scale, target) - entropy
    return (losses * batch["weight"]).sum() / batch["weight"].sum(), outputs


# ---- training: Adam on everything, but of HalfKP's 32 million weights only on the rows that a batch touches


def gather(table: jax.Array, used: jax.Array) -> jax.Array:
    return table.at[used].get(mode="fill", fill_value=0)


def effective_rows(params: Params, table: jax.Array, used: jax.Array) -> jax.Array:
    """A row of HalfKP is its own plus its piece's, which all kings share; behind the last input there are only zeros."""
    shared = jnp.where((used < INPUTS)[:, None], params["p"][used % P], 0)
    return jnp.clip(table + shared, -ROW_LIMIT, ROW_LIMIT)


def clip_weights(params: Params) -> Params:
    """Weights that a file can hold."""
    limited = {n: {"w": jnp.clip(params[n]["w"], -WEIGHT_LIMIT, WEIGHT_LIMIT), "b": params[n]["b"]} for n in LAYERS}
    return params | limited


def make_step(optimizer: optax.GradientTransformation, scale: float, beta1: float = 0.9, beta2: float = 0.99):
    @functools.partial(jax.jit, donate_argnums=(0, 1, 2))
    def step(params: Params, state: tuple, sparse: tuple, batch: dict, rate: jax.Array):
        table, mean, square = sparse  # three of (125388, 256), changed in place
        used = batch["used"]
        own = gather(table, used)

        def loss(params, own):
            return loss_of(params, effective_rows(params, own, used), batch, scale)[0]

        value, (grads, row_grads) = jax.value_and_grad(loss, argnums=(0, 1))(params, own)
        updates, state = optimizer.update(grads, state)
        params = clip_weights(optax.apply_updates(params, jax.tree.map(lambda u: rate * u, updates)))
        m = beta1 * gather(mean, used) + (1 - beta1) * row_grads
        v = beta2 * gather(square, used) + (1 - beta2) * row_grads**2
        own = own - rate * m / (jnp.sqrt(v) + 1e-8)
        put = lambda to, rows: to.at[used].set(rows, mode="drop", unique_indices=True)
        return params, state, (put(table, own), put(mean, m), put(square, v)), value

    return step


def batches(loader: Iterable[dict]) -> Iterator[dict]:
    """The loader's dicts, with the rows a batch uses numbered: as many places as a power of two, so that few shapes
    are compiled."""
    for batch in loader:
        lists = np.stack([batch["mover"], batch["opponent"]])
        lists[lists < 0] = INPUTS
        used, places = np.unique(np.append(lists, INPUTS), return_inverse=True)
        room = 1 << (len(used) - 1).bit_length()
        # Fresh numbers behind the table, not one number many times: scatters are told that indices are unique.
        used = np.concatenate([used, np.arange(INPUTS + 1, INPUTS + 1 + room - len(used))])
        yield {
            "used": used.astype(np.int32),
            "places": places[:-1].reshape(lists.shape).astype(np.int32),
            "value": batch["value"],
            "weight": batch["weight"],
        }


def make_loader(path: Path, args: argparse.Namespace, train: bool) -> manaka.Loader:
    return manaka.Loader(
        path,
        batch_size=args.batch if train else 2048,
        features="halfkp",
        blend=args.blend,
        outcome_absent=args.outcome_absent,
        order="shuffled" if train else "written",
        mirror="half" if train else "never",
        last_batch="drop" if train else "deliver",
        seed=args.seed,
        threads=args.threads,
    )


def make_evaluate(scale: float):
    @jax.jit
    def outputs(params, table, batch):
        rows = effective_rows(params, gather(table, batch["used"]), batch["used"])
        loss, out = loss_of(params, rows, batch, scale)
        return loss * batch["weight"].sum(), batch["weight"].sum(), out

    def evaluate(params: Params, table: jax.Array, loader: manaka.Loader) -> tuple[float, float]:
        """Loss and sign accuracy: of rows with a value that is not 0, how often the output is on its side of 0."""
        total = weight = right = signed = 0.0
        for batch in batches(loader):
            loss, w, out = outputs(params, table, batch)
            total, weight = total + float(loss), weight + float(w)
            right += float((np.sign(out) == np.sign(batch["value"]))[batch["value"] != 0].sum())
            signed += float((batch["value"] != 0).sum())
        return total / weight, right / max(signed, 1)

    return evaluate


# ---- the file


def quantise(params: Params, table: np.ndarray) -> dict[str, np.ndarray]:
    """The integers of docs/spec/nnbin.md: names, shapes and dtypes in the order of the file."""
    steps = lambda x, one: np.floor(np.asarray(x) * one + 0.5)
    shared = np.asarray(params["p"])
    net = {
        "feature_bias": steps(params["bias"], ONE).astype("<i2"),
        "feature_weight": np.empty((INPUTS, HALF), "<i2"),
    }
    for king in range(KINGS):
        rows = slice(king * P, (king + 1) * P)
        net["feature_weight"][rows] = steps(np.clip(table[rows] + shared, -ROW_LIMIT, ROW_LIMIT), ONE)
    for name in LAYERS:
        # Hidden sums are shifted down: half of what is shifted out makes a rounding of it.
        rounding = 0 if name == "output" else WEIGHT // 2
        net[f"{name}_bias"] = (steps(params[name]["b"], ONE * WEIGHT) + rounding).astype("<i4")
        weights = steps(params[name]["w"], WEIGHT)
        assert np.abs(weights).max() <= 127
        net[f"{name}_weight"] = weights.astype("i1")
    return net


def write_nn_bin(path: Path, net: dict[str, np.ndarray]) -> None:
    affine = lambda before, outputs: ((0xCC03DAE4 + outputs) ^ before >> 1 ^ before << 31) & 0xFFFFFFFF
    relu = lambda before: (before + 0x538D24C7) & 0xFFFFFFFF
    transformer = 0x5D69D5B9 ^ 1 ^ 2 * HALF
    network = affine(relu(affine(relu(affine(0xEC42E90D ^ 2 * HALF, HIDDEN)), HIDDEN)), 1)
    text = b"InputSlice[512(0:512)]"
    text = b"ClippedReLU[32](AffineTransform[32<-32](ClippedReLU[32](AffineTransform[32<-512](%s))))" % text
    text = b"Features=HalfKP(Friend)[125388->256x2],Network=AffineTransform[1<-32](%s)" % text
    with open(path, "wb") as file:
        file.write(struct.pack("<III", 0x7AF32F16, transformer ^ network, len(text)) + text)
        for at, numbers in enumerate(net.values()):
            if at in (0, 2):
                file.write(struct.pack("<I", transformer if at == 0 else network))
            file.write(numbers.tobytes())


def integer_outputs(net: dict[str, np.ndarray], mover: np.ndarray, opponent: np.ndarray) -> np.ndarray:
    """What an engine computes of the file, (n,) int32 by (n, 38) indices; over FV_SCALE they are centipawns."""
    halves = []
    for lists in (mover, opponent):
        rows = net["feature_weight"][np.maximum(lists, 0)] * (lists >= 0)[:, :, None].astype(np.int16)
        halves.append(np.clip(rows.sum(1, dtype=np.int16) + net["feature_bias"], 0, ONE))
    x = np.concatenate(halves, axis=1).astype(np.int32)
    for name in LAYERS[:2]:
        x = np.clip((x @ net[f"{name}_weight"].T.astype(np.int32) + net[f"{name}_bias"]) >> 6, 0, ONE)
    return (x @ net["output_weight"].T.astype(np.int32) + net["output_bias"])[:, 0]


def main(arguments: list[str] | None = None) -> dict:
    """Trains and writes the file. Returns the figures and parameters of the best epoch, and the figures of each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--train", type=Path, required=True)
    parser.add_argument("--valid", type=Path, required=True, help="shards of other games")
    parser.add_argument("--out", type=Path, required=True, help="the nn.bin to write")
    parser.add_argument("--epochs", type=int, default=8, help="at most")
    parser.add_argument("--steps", type=int, help="at most, whatever the epochs")
    parser.add_argument("--patience", type=int, default=2, help="epochs without a better validation loss, then stop")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--batch", type=int, default=512)
    parser.add_argument("--rate", type=float, default=5e-4, help="Adam's, falling by a cosine to a tenth")
    parser.add_argument("--blend", type=float, default=1.0, help="share of the search's value; the rest is the outcome")
    parser.add_argument("--outcome-absent", choices=["refuse", "search"], default="refuse")
    parser.add_argument("--threads", type=int)
    args = parser.parse_args(arguments)

    train, valid = make_loader(args.train, args, True), make_loader(args.valid, args, False)
    # tanh(cp / c) is the value, so sigmoid(2 cp / c) is the win probability.
    coefficient = train.headers[0].eval_coef or 1200.0
    scale = 2 * OUTPUT_CP / coefficient
    last = min(args.steps or 1 << 62, args.epochs * len(train))
    print(f"{train.rows} positions, {valid.rows} to validate; {last} steps of {args.batch}; tanh(cp / {coefficient:.1f})")

    params = init(args.seed)
    optimizer = optax.scale_by_adam(b2=0.99)
    optimizer = optax.chain(optimizer, optax.scale(-1))
    state, sparse = optimizer.init(params), tuple(jnp.zeros((INPUTS, HALF)) for _ in range(3))
    step, evaluate = make_step(optimizer, scale), make_evaluate(scale)
    schedule = optax.cosine_decay_schedule(args.rate, last, alpha=0.1)

    best, worse, steps, begun, epochs = None, 0, 0, time.time(), []
    for epoch in range(args.epochs):
        losses = []
        for batch in batches(train):
            if steps == last:
                break
            params, state, sparse, loss = step(params, state, sparse, batch, schedule(steps))
            losses.append(float(loss))
            steps += 1
        loss, sign = evaluate(params, sparse[0], valid)
        epochs.append((loss, sign))
        print(
            f"epoch {epoch + 1}, step {steps}, {time.time() - begun:.0f} s: loss {np.mean(losses):.4f}, "
            f"validation loss {loss:.4f}, sign accuracy {sign:.3f}",
            flush=True,
        )
        if best is None or loss < best[0]:
            best, worse = (loss, sign, jax.device_get(params), np.array(sparse[0])), 0
        else:
            worse += 1
        if steps == last or worse > args.patience:
            break

    loss, sign, params, table = best
    net = quantise(params, table)
    write_nn_bin(args.out, net)
    print(f"{args.out}: validation loss {loss:.4f}, sign accuracy {sign:.3f}; load it at FV_SCALE {FV_SCALE}")
    return {"loss": loss, "sign": sign, "epochs": epochs, "params": params, "table": table, "net": net}


if __name__ == "__main__":
    main()
