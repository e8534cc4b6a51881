"""Which rows a loader gives, and which it mirrors (docs/spec/loading.md §4, features.md §7)."""

import struct

from oracle.order import stream_block

ORDER, MIRROR = 0, 1


def number(seed: int, epoch: int, use: int, stream: int, index: int, loading_pass: int = 0, source: int = 0) -> int:
    """The u64 number `index` of a stream of the generator that is keyed for a use in an epoch."""
    key = struct.pack("<QQQI3xB", seed, epoch, loading_pass, source, use)
    block = stream_block(key, stream, index // 8)
    low, high = block[index % 8 * 2 : index % 8 * 2 + 2]
    return low | high << 32


def group_order(groups: int, seed: int, epoch: int, loading_pass: int = 0, source: int = 0) -> list[int]:
    order = list(range(groups))
    for draw, last in enumerate(range(groups - 1, 0, -1)):
        other = number(seed, epoch, ORDER, 0, draw, loading_pass, source) * (last + 1) >> 64
        order[last], order[other] = order[other], order[last]
    return order


def is_mirrored(seed: int, epoch: int, group: int, row: int) -> bool:
    return bool(number(seed, epoch, MIRROR, group, row // 64) >> (row % 64) & 1)
