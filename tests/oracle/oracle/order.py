"""The order rows leave in: a fixed draw for each place, owing nothing to the row (docs/spec/shards.md)."""

import struct

import xxhash

SEED = 0x4D50_4B31  # "MPK1"
SLOT_BITS = 12
MASK = 0xFFFF_FFFF
CONSTANTS = struct.unpack("<4I", b"expand 32-byte k")


def quarter_round(x: list[int], a: int, b: int, c: int, d: int) -> None:
    for left, right, third, turn in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
        x[left] = (x[left] + x[right]) & MASK
        mixed = x[third] ^ x[left]
        x[third] = (mixed << turn | mixed >> (32 - turn)) & MASK


def chacha_block(state: list[int], rounds: int) -> list[int]:
    """ChaCha's block function over sixteen words, whatever words 12 to 15 are taken to mean."""
    x = list(state)
    for _ in range(rounds // 2):
        for column in range(4):
            quarter_round(x, column, column + 4, column + 8, column + 12)
        quarter_round(x, 0, 5, 10, 15)
        quarter_round(x, 1, 6, 11, 12)
        quarter_round(x, 2, 7, 8, 13)
        quarter_round(x, 3, 4, 9, 14)
    return [(a + b) & MASK for a, b in zip(x, state)]


def stream_block(key: bytes, stream: int, counter: int, rounds: int = 8) -> list[int]:
    """One block of the generator: a 64-bit counter in words 12 and 13, a 64-bit stream id in 14 and 15."""
    words = [*CONSTANTS, *struct.unpack("<8I", key)]
    words += [counter & MASK, counter >> 32, stream & MASK, stream >> 32]
    return chacha_block(words, rounds)


def draw(slot: int, rank: int) -> int:
    """The 64-bit number at index `rank` of the slot's stream, eight to a block, low word first."""
    key = struct.pack("<Q24x", SEED)
    block = stream_block(key, slot, rank // 8)
    low, high = block[rank % 8 * 2 : rank % 8 * 2 + 2]
    return low | high << 32


def slot_of(packed: bytes) -> int:
    return xxhash.xxh3_128_intdigest(packed) >> (128 - SLOT_BITS)


def order_keys(keys: list[bytes]) -> list[bytes]:
    """Distinct position bytes in the order their rows are written."""
    slots: dict[int, list[tuple[int, bytes]]] = {}
    for packed in keys:
        slots.setdefault(slot_of(packed), []).append((xxhash.xxh3_128_intdigest(packed), packed))
    placed = []
    for slot, members in slots.items():
        for rank, (_, packed) in enumerate(sorted(members)):
            placed.append((draw(slot, rank), slot, rank, packed))
    return [packed for *_, packed in sorted(placed)]


def order_rows(rows: list) -> list:
    """The same for rows with a `packed` field."""
    by_key = {row.packed: row for row in rows}
    assert len(by_key) == len(rows)
    return [by_key[packed] for packed in order_keys(list(by_key))]
