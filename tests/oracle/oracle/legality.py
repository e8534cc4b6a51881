"""Check and legality, for the strict rules of docs/spec/corpus.md.

Legal moves come from cshogi. It aborts the process on text it dislikes, so it is only ever handed text that
`position.to_sfen` wrote from bytes `position.parse_sfen` accepted. Attacks are counted here by hand, because cshogi
does not report a king attacked by a king.
"""

import cshogi

from .position import EMPTY, KINDS, SIDE, WHITE_BIT, file_rank, square, structural_faults, to_sfen

# Steps and slides as (files to Black's right, ranks forward), seen by the piece's owner.
ORTHOGONAL = [(0, 1), (0, -1), (1, 0), (-1, 0)]
DIAGONAL = [(1, 1), (-1, 1), (1, -1), (-1, -1)]
GOLD = ORTHOGONAL + [(1, 1), (-1, 1)]
STEPS = {
    "K": ORTHOGONAL + DIAGONAL, "G": GOLD, "+S": GOLD, "+N": GOLD, "+L": GOLD, "+P": GOLD,
    "S": [(0, 1)] + DIAGONAL, "N": [(1, 2), (-1, 2)], "P": [(0, 1)], "+R": DIAGONAL, "+B": ORTHOGONAL,
}  # fmt: skip
SLIDES = {"R": ORTHOGONAL, "+R": ORTHOGONAL, "B": DIAGONAL, "+B": DIAGONAL, "L": [(0, 1)]}


def attacked_squares(packed: bytes, white: int) -> set[int]:
    """Every square one side's pieces bear on."""
    reached = set()
    forward = 1 if white else -1
    for index, byte in enumerate(packed[:81]):
        if byte == EMPTY or bool(byte & WHITE_BIT) != bool(white):
            continue
        name = KINDS[byte & 0x0F]
        for moves, far in ((STEPS.get(name, []), 1), (SLIDES.get(name, []), 8)):
            for right, ahead in moves:
                file, rank = file_rank(index)
                for _ in range(far):
                    file, rank = file + right * forward, rank + ahead * forward
                    if not (1 <= file <= 9 and 1 <= rank <= 9):
                        break
                    reached.add(square(file, rank))
                    if packed[square(file, rank)] != EMPTY:
                        break
    return reached


def in_check(packed: bytes, white: int) -> bool:
    king = KINDS.index("K") | (WHITE_BIT if white else 0)
    return packed.index(king) in attacked_squares(packed, 1 - white)


def waiting_side_in_check(packed: bytes) -> bool:
    """The side that has just moved left its king to be taken: no game reaches this."""
    return in_check(packed, 1 - packed[SIDE])


def legal_moves(packed: bytes) -> set[str]:
    """Every legal move as USI text, promotions that nobody would decline included."""
    assert not structural_faults(packed)
    board = cshogi.Board(to_sfen(packed) + " 1")
    return {cshogi.move_to_usi(move) for move in board.legal_moves}
