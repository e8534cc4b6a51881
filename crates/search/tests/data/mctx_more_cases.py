"""Cases over the table game, computed by mctx: `pip install mctx`, then `mctx_more_cases.py FILE [CASES PER SETTING]`.

The file that is committed has one case for each setting. The example `mctx_cases` runs any such file.
"""

import functools
import json
import sys

import jax
import jax.numpy as jnp
import mctx
import numpy as np

MASK = (1 << 64) - 1
STATES = 256


def u24(seed, stream, index):
    """The upper 24 bits of splitmix64((seed << 48) ^ (stream << 40) ^ index)."""
    x = np.uint64((seed << 48) & MASK) ^ np.uint64(stream << 40) ^ index.astype(np.uint64)
    with np.errstate(over="ignore"):
        x = x + np.uint64(0x9E3779B97F4A7C15)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (x ^ (x >> np.uint64(31))) >> np.uint64(40)


def tables(seed, actions):
    """Logits, values, whether a state is over, and its value for the side to move then."""
    states = np.arange(STATES)

    def unit(stream, index):
        return u24(seed, stream, index).astype(np.float32) * np.float32(2**-24) - np.float32(0.5)

    logits = (unit(1, np.arange(STATES * actions)) * np.float32(6)).reshape(STATES, actions)
    values = unit(2, states) * np.float32(1.8)
    over = (u24(seed, 3, states) % 10 == 0) & (states != 0)
    results = (u24(seed, 4, states) % 3).astype(np.float32) - 1
    return tuple(jnp.asarray(table) for table in (logits, values, over, results))


def unit_q(tree, node):
    """Values in 0 to 1, a loss for moves without visits: AlphaZero's."""
    return jnp.where(tree.children_visits[node] > 0, (tree.qvalues(node) + 1) / 2, 0.0)


@functools.partial(jax.jit, static_argnums=range(7))
def run(alg, actions, sims, considered, c_visit, c_scale, rescale, logits, values, over, results, key):
    def step(_params, _key, action, state):
        state = (31 * state + 7 * action + 1) % STATES
        ends = over[state]
        output = mctx.RecurrentFnOutput(
            reward=jnp.where(ends, -results[state], 0.0),
            discount=jnp.where(ends, 0.0, -1.0),
            prior_logits=logits[state],
            value=jnp.where(ends, 0.0, values[state]),
        )
        return output, state

    root = mctx.RootFnOutput(prior_logits=logits[:1], value=values[:1], embedding=jnp.zeros((1,), jnp.int32))
    if alg == "gumbel":
        q = functools.partial(
            mctx.qtransform_completed_by_mix_value,
            value_scale=c_scale,
            maxvisit_init=c_visit,
            rescale_values=rescale,
        )
        return mctx.gumbel_muzero_policy(
            None, key, root, step, sims, max_num_considered_actions=considered, qtransform=q
        )
    return mctx.muzero_policy(None, key, root, step, sims, dirichlet_fraction=0.0, qtransform=unit_q)


SETTINGS = [
    # algorithm, actions, simulations, considered, c_visit, c_scale, rescale
    ("gumbel", 6, 16, 4, 50.0, 0.1, True),
    ("gumbel", 30, 64, 16, 50.0, 1.0, False),
    ("gumbel", 80, 200, 16, 50.0, 0.1, True),
    ("gumbel", 80, 800, 16, 50.0, 1.0, False),
    ("gumbel", 40, 400, 64, 50.0, 0.1, True),
    ("gumbel", 2, 30, 16, 50.0, 1.0, True),
    ("gumbel", 5, 100, 3, 50.0, 1.0, False),
    ("gumbel", 30, 10, 16, 50.0, 1.0, False),
    ("puct", 30, 200, 0, 50.0, 0.0, False),
    ("puct", 80, 800, 0, 50.0, 0.0, False),
    ("gumbel", 12, 800, 12, 20.0, 0.5, True),
    ("gumbel", 100, 600, 100, 50.0, 1.0, False),
]


def case(setting, seed):
    output = run(*setting, *tables(seed, setting[1]), jax.random.PRNGKey(seed))
    summary = output.search_tree.summary()
    names = ("alg", "actions", "sims", "considered", "c_visit", "c_scale", "rescale")
    made = dict(zip(names, setting), seed=seed)
    made["visits"] = [int(count) for count in summary.visit_counts[0]]
    made["root_value"] = float(summary.value[0])
    if setting[0] == "gumbel":
        made["gumbel"] = [float(noise) for noise in output.search_tree.extra_data.root_gumbel[0]]
        made["policy"] = [float(share) for share in output.action_weights[0]]
        made["action"] = int(output.action[0])
    return made


if __name__ == "__main__":
    each = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    cases = [case(setting, 2000 + 100 * at + k) for at, setting in enumerate(SETTINGS) for k in range(each)]
    with open(sys.argv[1], "w") as file:
        json.dump({"states": STATES, "note": "made by mctx_more_cases.py", "cases": cases}, file)
