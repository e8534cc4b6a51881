"""A hand-made corpus with every kind of refusal in it, and the ways a parquet writer may store one (corpus.md)."""

from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

START = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1"
WHITE_START = START.replace(" b ", " w ").replace(" 1", " 2")
BARE = "4k4/9/9/9/9/9/9/9/4K4 b - 1"
MATED = "4k4/4G4/4P4/9/9/9/9/9/4K4 w - 1"
WAITING_IN_CHECK = "4k4/4R4/9/9/9/9/9/9/4K4 b - 1"
ADJACENT_KINGS = "9/9/9/4k4/4K4/9/9/9/9 b - 1"

MALFORMED, SFEN, SIDE = "malformed_record", "bad_sfen", "side_mismatch"
UNLABELLED, PLAYED, NO_MOVES, ILLEGAL = "unlabelled_move", "move_not_candidate", "no_legal_moves", "illegal_candidate"


class Case(NamedTuple):
    """A row, and the answer expected by hand: without `--strict` and with it. None means written."""

    row: dict
    want: str | None
    want_strict: str | None


def row(**changes) -> dict:
    base = {
        "sfen": START, "side": 0, "ply": 1, "cp": 35, "cand_move": ["7g7f", "2g2f"], "cand_cp": [35, 20],
        "move": "7g7f", "result": 1,
    }  # fmt: skip
    return base | changes


def one_move(sfen: str, text: str, side: int = 0, **changes) -> dict:
    return row(sfen=sfen, side=side, cand_move=[text], cand_cp=[12], move=text, **changes)


def cases() -> list[Case]:
    good = [
        row(),
        row(result=-1, move="2g2f"),
        row(result=0),
        row(sfen=WHITE_START, side=1, cand_move=["3c3d", "8c8d"], move="3c3d"),
        row(sfen=WHITE_START, side=1, cand_move=["3c3d", "8c8d"], move="8c8d", result=-1, ply=65535),
        row(sfen=WHITE_START, side=1, cand_move=["3c3d", "8c8d"], move="8c8d", result=0, ply=0),
        row(cp=32767, cand_cp=[-32767, 32767]),
        row(cp=-32767),
        *[row(cp=cp, cand_cp=[cp, -cp]) for cp in (29679, 29680, -29679, -29680, 31899, 31900, -31900, 0, -1)],
        row(sfen=START.removesuffix(" 1")),
        one_move("4k4/9/2P6/9/9/9/9/9/4K4 b - 1", "7c7b"),
        one_move("4k4/9/2P6/9/9/9/9/9/4K4 b - 1", "7c7b+"),
        one_move("4k4/9/9/9/9/9/9/9/4K4 b 2RB3G4S4N4L17P 57", "P*5b"),
        one_move("4k4/9/9/9/9/9/9/9/4K4 w RBG2S2N2L9Prb2g2s2n2l9p 57", "R*5h", side=1),
        one_move("l7k/+P+L+N+S+R+B3/9/9/9/9/3+r+b4/9/8K b g2S 9", "S*1b"),
    ]
    result = [Case(r, None, None) for r in good]

    def refuse(reason, *rows):
        result.extend(Case(r, reason, reason) for r in rows)

    def refuse_strict(reason, *rows):
        result.extend(Case(r, None, reason) for r in rows)

    refuse(MALFORMED, *[row(**{name: None}) for name in row()])
    refuse(
        MALFORMED,
        row(cand_move=["7g7f", None]), row(cand_cp=[35, None]), row(cand_move=["7g7f"]), row(cand_cp=[35]),
        row(cand_move=[], cand_cp=[]), row(side=2), row(side=-1), row(result=2), row(result=-2),
        row(ply=-1), row(ply=65536), row(ply=2**40), row(cp=32768), row(cp=-32768), row(cp=2**33),
        row(cand_cp=[35, 32768]), row(cand_cp=[-32768, 20]), row(cand_cp=[35, -(2**33)]),
        row(cand_move=["7g7f", "7g7f"]), row(move="xyzzy"), row(move=""),
        *[row(cand_move=["7g7f", text]) for text in (
            "", "7g", "7g7", "7g7fx", "7g7f=", "7g7f++", "0g7f", "7j7f", "7G7F", "p*5e", "K*5e", "P*5e+", "P5e",
            " 7g7f",
        )],
    )  # fmt: skip
    # In text: not a position at all.
    board = START.split(" ")[0]
    refuse(SFEN, *[row(sfen=text) for text in (
        "", "garbage", "startpos", f"{board} b", f"{board} x - 1", f"{board} b 7 1", f"{board} b K 1",
        f"{board} b P+ 1",
        f"{board.removesuffix('/LNSGKGSNL')} b - 1", f"{board}/9 b - 1", board.replace("9/9/9", "9/8/9") + " b - 1",
        f"{board}1 b - 1", board.replace("9/9/9", "9/9P/9") + " b - 1",
        board.replace("1r5b1", "1x5b1") + " b - 1", board.replace("LNSGK", "LNS+GK") + " b - 1",
        board.replace("LNSGK", "LNSG+K") + " b - 1", board.replace("9/9/9", "9/8+/9") + " b - 1",
    )])  # fmt: skip
    # In structure: no game reaches these pieces on these squares.
    refuse(SFEN, *[row(sfen=text) for text in (
        "9/9/9/9/9/9/9/9/4K4 b - 1", "4k4/9/9/9/9/9/9/9/3KK4 b - 1", "3kk4/9/9/9/9/9/9/9/9 b - 1",
        START.replace(" - ", " P "), START.replace(" - ", " b "), "4k4/9/9/9/+R7+r/9/9/9/4K4 b R 1",
        "4k4/9/9/9/9/9/+P8/9/4K4 b 18P 1", "4k4/9/9/9/9/9/9/9/4K4 b 3G2g 1", "4k4/9/9/9/+L8/9/9/9/4K4 b 2L2l 1",
        "4k4/9/9/P8/9/9/P8/9/4K4 b - 1", "4k4/9/p8/p8/9/9/9/9/4K4 b - 1",
        "P3k4/9/9/9/9/9/9/9/4K4 b - 1", "4k4/9/9/9/9/9/9/9/p3K4 b - 1", "L3k4/9/9/9/9/9/9/9/4K4 b - 1",
        "4k4/9/9/9/9/9/9/9/l3K4 b - 1", "N3k4/9/9/9/9/9/9/9/4K4 b - 1", "4k4/N8/9/9/9/9/9/9/4K4 b - 1",
        "4k4/9/9/9/9/9/9/n8/4K4 b - 1", "4k4/9/9/9/9/9/9/9/n3K4 b - 1",
    )])  # fmt: skip
    refuse_strict(SFEN, one_move(WAITING_IN_CHECK, "5i5h"), one_move(ADJACENT_KINGS, "5e5f"))
    refuse(SIDE, row(side=1), row(sfen=WHITE_START, cand_move=["3c3d", "8c8d"], move="3c3d"))
    refuse(UNLABELLED, *[
        row(cand_move=["7g7f", word]) for word in ("resign", "win", "none", "pass", "0000")
    ], row(cand_move=["resign", "7g7f"], move="resign"))  # fmt: skip
    refuse(PLAYED, row(move="3g3f"), row(move="resign"), row(move="7g7f+"))
    refuse_strict(NO_MOVES, one_move(MATED, "5a4a", side=1))
    refuse_strict(
        ILLEGAL,
        row(cand_move=["7g7f", "7g7e"]), row(cand_move=["7g7f", "P*5e"]), row(cand_move=["7g7f", "5e5d"]),
        row(cand_move=["7g7f", "7g7f+"]), row(cand_move=["7g7f", "3c3d"]),
        one_move("4k4/2P6/9/9/9/9/9/9/4K4 b - 1", "7b7a"),
        one_move("4k4/9/9/9/9/2P6/9/9/4K4 b P 1", "P*7d"),
        one_move("4r4/9/9/9/9/9/9/4G4/k3K4 b - 1", "5h4h"),
        one_move("7nk/7p1/8G/9/9/9/9/9/4K4 b P 1", "P*1b"),
    )  # fmt: skip
    # Two faults at once: the earlier reason is the one reported.
    refuse(MALFORMED, row(sfen="garbage", side=3), row(move=None, cand_move=["resign", "7g7f"]))
    refuse(SFEN, row(sfen="garbage", side=1), row(sfen=START.replace(" - ", " P "), side=1))
    refuse(SIDE, row(side=1, cand_move=["7g7f", "win"]), row(side=1, move="3g3f"))
    refuse(UNLABELLED, row(cand_move=["2g2f", "none"]))
    refuse(PLAYED, one_move(MATED, "5a4a", side=1) | {"move": "1a1b"}, row(cand_move=["7g7e", "2g2f"]))
    return result


class Storage(NamedTuple):
    """How one variant of the same rows is stored."""

    ints: dict
    text: pa.DataType = pa.string()
    big_lists: bool = False
    element: str = "element"
    compression: str = "zstd"
    row_group: int = 1 << 20
    extras: bool = False


NARROW = dict(side=pa.uint8(), ply=pa.uint16(), cp=pa.int16(), cand_cp=pa.int16(), result=pa.int8())
SIGNED = dict(side=pa.int8(), ply=pa.int32(), cp=pa.int32(), cand_cp=pa.int32(), result=pa.int16())
WIDE = dict.fromkeys(NARROW, pa.int64())
UNSIGNED = WIDE | dict(side=pa.uint32(), ply=pa.uint64())
STORAGES = {
    "narrow": Storage(NARROW),
    "signed-gzip-item": Storage(SIGNED, element="item", compression="gzip"),
    "wide-snappy-many-groups": Storage(WIDE, compression="snappy", row_group=7),
    "unsigned-uncompressed": Storage(UNSIGNED, compression="none"),
    "large-string": Storage(WIDE, text=pa.large_string(), element="item"),
    "large-list": Storage(WIDE, text=pa.large_string(), big_lists=True, element="item"),
    "dictionary": Storage(SIGNED, text=pa.dictionary(pa.int32(), pa.string())),
    "extra-columns": Storage(WIDE, extras=True),
}


def write_corpus(path, rows: list[dict], storage: Storage) -> list[dict]:
    """Write the rows whose numbers this storage can hold, and return those."""
    kept = [r for r in rows if all(_fits(r[name], kind) for name, kind in storage.ints.items())]
    plain_text = storage.text.value_type if pa.types.is_dictionary(storage.text) else storage.text
    make_list = pa.large_list if storage.big_lists else pa.list_
    types = {
        "sfen": storage.text, "move": storage.text, "cand_move": make_list(pa.field(storage.element, plain_text)),
        **storage.ints, "cand_cp": make_list(pa.field(storage.element, storage.ints["cand_cp"])),
    }  # fmt: skip
    columns = {name: pa.array([r[name] for r in kept], types[name]) for name in row()}
    # Part of the schema; nothing is derived from it, so its values may be anything.
    columns["depth"] = pa.array([None if i % 3 == 0 else i % 100 for i in range(len(kept))], pa.uint8())
    if storage.extras:
        count = range(len(kept))
        columns = {"game": pa.array([{"id": i, "tags": ["x"] * (i % 3)} for i in count])} | columns
        columns["note"] = pa.array([f"row {i}" for i in count])
        columns = dict(reversed(columns.items()))
    pq.write_table(
        pa.table(columns), path, compression=storage.compression, row_group_size=storage.row_group,
        use_compliant_nested_type=False,
    )  # fmt: skip
    return kept


def _fits(value, kind: pa.DataType) -> bool:
    low = -(2 ** (kind.bit_width - 1)) if pa.types.is_signed_integer(kind) else 0
    high = low + 2**kind.bit_width
    values = value if isinstance(value, list) else [value]
    return all(v is None or low <= v < high for v in values)
