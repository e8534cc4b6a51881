"""SFEN text, the 96 position bytes and move16, each turned into the other (docs/spec/stream.md)."""

import re

EMPTY = 0xFF
WHITE_BIT = 0x10
KINDS = ["K", "R", "B", "G", "S", "N", "L", "P", "+R", "+B", "+S", "+N", "+L", "+P"]  # stream.md, board bytes
HAND_KINDS = ["P", "L", "N", "S", "G", "B", "R"]  # stream.md, hands
HAND_MAXIMA = [18, 4, 4, 4, 4, 2, 2]
BLACK_HAND, WHITE_HAND, SIDE = 81, 88, 95

MOVE_TEXT = re.compile(r"([1-9])([a-i])([1-9])([a-i])(\+?)")
DROP_TEXT = re.compile(r"([PLNSGBR])\*([1-9])([a-i])")
HAND_TEXT = re.compile(r"(?:(?:[2-9]|1[0-8]?)?[PLNSGBRplnsgbr])+")
HAND_ITEM = re.compile(r"(\d*)([A-Za-z])")


class SfenError(ValueError):
    """The text is not a position."""


def square(file: int, rank: int) -> int:
    """0 is 9a, 8 is 9i, 80 is 1i."""
    return (9 - file) * 9 + (rank - 1)


def file_rank(index: int) -> tuple[int, int]:
    return 9 - index // 9, index % 9 + 1


def _parse_rank(text: str) -> list[int]:
    """One rank's nine board bytes, file 9 first."""
    row, promoted = [], False
    for letter in text:
        if letter == "+":
            if promoted:
                raise SfenError(f"two plus signs in {text!r}")
            promoted = True
            continue
        if letter in "123456789":
            if promoted:
                raise SfenError(f"promoted nothing in {text!r}")
            row += [EMPTY] * int(letter)
            continue
        name = ("+" if promoted else "") + letter.upper()
        if not letter.isascii() or name not in KINDS:
            raise SfenError(f"no piece is called {name!r}")
        row.append(KINDS.index(name) | (0 if letter.isupper() else WHITE_BIT))
        promoted = False
    if promoted or len(row) != 9:
        raise SfenError(f"the rank {text!r} does not fill nine squares")
    return row


def parse_sfen(text: str) -> bytes:
    """`board side hands [move number]` to the 96 bytes. Judges the text only: two kings or none may pass here."""
    fields = text.split(" ")
    if len(fields) not in (3, 4):
        raise SfenError("an SFEN has three or four fields")
    board, side, hands = fields[:3]
    if len(fields) == 4 and not re.fullmatch("[0-9]+", fields[3]):
        raise SfenError(f"the move number {fields[3]!r} is not a number")
    ranks = board.split("/")
    if len(ranks) != 9:
        raise SfenError("a board has nine ranks")
    packed = bytearray(96)
    for rank, rank_text in enumerate(ranks, start=1):
        for left, byte in enumerate(_parse_rank(rank_text)):
            packed[square(9 - left, rank)] = byte
    if side not in ("b", "w"):
        raise SfenError(f"no side is called {side!r}")
    packed[SIDE] = "bw".index(side)
    if hands != "-":
        if not HAND_TEXT.fullmatch(hands):
            raise SfenError(f"the hands {hands!r} do not parse")
        for count, letter in HAND_ITEM.findall(hands):
            base = BLACK_HAND if letter.isupper() else WHITE_HAND
            slot = base + HAND_KINDS.index(letter.upper())
            if packed[slot]:
                raise SfenError(f"the hands name {letter!r} twice")
            packed[slot] = int(count or 1)
    return bytes(packed)


def to_sfen(packed: bytes) -> str:
    """Back to text, with hands in the usual R B G S N L P order and no move number."""
    ranks = []
    for rank in range(1, 10):
        text, gap = "", 0
        for file in range(9, 0, -1):
            byte = packed[square(file, rank)]
            if byte == EMPTY:
                gap += 1
                continue
            text += (str(gap) if gap else "") + _letter(byte)
            gap = 0
        ranks.append(text + (str(gap) if gap else ""))
    hands = ""
    for base, style in ((BLACK_HAND, str.upper), (WHITE_HAND, str.lower)):
        for index in reversed(range(7)):
            count = packed[base + index]
            if count:
                hands += (str(count) if count > 1 else "") + style(HAND_KINDS[index])
    return f"{'/'.join(ranks)} {'bw'[packed[SIDE]]} {hands or '-'}"


def _letter(byte: int) -> str:
    name = KINDS[byte & 0x0F]
    return name.lower() if byte & WHITE_BIT else name


def structural_faults(packed: bytes) -> set[str]:
    """What no position can have, found without a move generator (corpus.md, bad_sfen)."""
    faults = set()
    totals = dict.fromkeys(HAND_KINDS, 0)
    for index, kind in enumerate(HAND_KINDS):
        totals[kind] = packed[BLACK_HAND + index] + packed[WHITE_HAND + index]
    kings, pawns = [0, 0], set()
    for index, byte in enumerate(packed[:81]):
        if byte == EMPTY:
            continue
        white, name = byte >> 4 & 1, KINDS[byte & 0x0F]
        file, rank = file_rank(index)
        ahead = rank - 1 if not white else 9 - rank  # ranks left to walk
        if name == "K":
            kings[white] += 1
            continue
        totals[name.lstrip("+")] += 1
        if name == "P":
            if (white, file) in pawns:
                faults.add("two pawns on a file")
            pawns.add((white, file))
        if (name in "PL" and ahead < 1) or (name == "N" and ahead < 2):
            faults.add("a piece that can never move")
    if kings != [1, 1]:
        faults.add("king count")
    for kind, most in zip(HAND_KINDS, HAND_MAXIMA):
        if totals[kind] > most:
            faults.add(f"too many {kind}")
    return faults


def usi_to_move16(text: str) -> int | None:
    """to | origin << 7 | promotion << 14, a drop's origin being 81 + its hand index; None if not move syntax."""
    match = MOVE_TEXT.fullmatch(text)
    if match:
        from_file, from_rank, to_file, to_rank, plus = match.groups()
        origin = square(int(from_file), ord(from_rank) - 96)
        return square(int(to_file), ord(to_rank) - 96) | origin << 7 | (0x4000 if plus else 0)
    match = DROP_TEXT.fullmatch(text)
    if match:
        kind, to_file, to_rank = match.groups()
        return square(int(to_file), ord(to_rank) - 96) | (81 + HAND_KINDS.index(kind)) << 7
    return None


def move16_to_usi(mv: int) -> str:
    to, origin = mv & 0x7F, mv >> 7 & 0x7F
    if origin >= 81:
        return f"{HAND_KINDS[origin - 81]}*{_square_text(to)}"
    return _square_text(origin) + _square_text(to) + ("+" if mv & 0x4000 else "")


def _square_text(index: int) -> str:
    file, rank = file_rank(index)
    return f"{file}{chr(96 + rank)}"
