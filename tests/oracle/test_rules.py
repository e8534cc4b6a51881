"""The rules behind `manaka-shogi` against cshogi: legal moves, check, declaration, SFEN, perft.

MANAKA_RULES names the program that answers (default: target/release/examples/rules_lines under the repository root,
built by `cargo build --release -p manaka-shogi --example rules_lines`). A missing one is a failure. Positions come from
seeded random games and from seeded compositions; cshogi aborts on text it dislikes, so it is only handed text that it
wrote itself or that was put together here square by square.
"""

import os
import random
import subprocess
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import cshogi
import pytest

ROOT = Path(__file__).resolve().parents[2]
START = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1"
MATSURI = "l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL w RGgsn5p 1"
MOST_MOVES = "R8/2K1S1SSk/4B4/9/9/9/9/9/1L1L1L3 b RBGSNLP3g3n17p 1"
STARTS = [
    *[START] * 6,
    "lnsgkgsn1/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1",
    "lnsgkgsnl/1r7/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1",
    "lnsgkgsnl/7b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1",
    "lnsgkgsnl/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1",
    "1nsgkgsn1/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1",
    "2sgkgs2/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1",
    "4k4/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1",
    "4k4/9/9/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w 3p 1",
    MATSURI,
]
# Positions in which one pawn drop would mate and is therefore forbidden.
DROP_MATES = {
    "1g1gp4/1+Ss1G2P+P/P1nn3r1/4P4/LPP3k2/LN1sb+r3/2p+b4K/1Nl2pppP/1LgP1sP2 w P3p 380": "P*1f",
    "l5snl/3g5/2n2p1p1/p1+R5p/2pp1B1P1/P1k2PS1P/1P1PP1N2/1SG1KG2+b/LN6r b 3Pgsl2p 1": "P*7g",
}
FULL_SET = {"R": 2, "B": 2, "G": 4, "S": 4, "N": 4, "L": 4, "P": 18}
PROMOTES = "RBSNLP"


class Rules:
    """The program under test."""

    def __init__(self, program: Path):
        self.program = program

    def run(self, *arguments: str, text: str = "") -> subprocess.CompletedProcess:
        run = subprocess.run([self.program, *arguments], input=text, capture_output=True, text=True, timeout=600)
        assert "panicked at" not in run.stderr, run.stderr
        return run

    def answers(self, sfens: list[str]) -> list[list[str]]:
        run = self.run(text="".join(sfen + "\n" for sfen in sfens))
        assert run.returncode == 0, run.stderr
        answers = [line.split("\t") for line in run.stdout.splitlines()]
        assert len(answers) == len(sfens)
        return answers

    def perft(self, depth: int, sfen: str) -> int:
        run = self.run("perft", str(depth), *sfen.split())
        assert run.returncode == 0, run.stderr
        return int(run.stdout)


@pytest.fixture(scope="session")
def rules() -> Rules:
    program = Path(os.environ.get("MANAKA_RULES") or ROOT / "target/release/examples/rules_lines").resolve()
    if not program.is_file():
        pytest.fail(f"{program} does not exist; build it, or point MANAKA_RULES at it", pytrace=False)
    return Rules(program)


# Boards put together square by square: {(file, rank): letters}, with White's letters in lower case.


def write_sfen(squares: dict, hands: Counter, side: str, number: int = 1) -> str:
    ranks = []
    for rank in range(1, 10):
        text, empty = "", 0
        for file in range(9, 0, -1):
            piece = squares.get((file, rank))
            if piece is None:
                empty += 1
                continue
            text += (str(empty) if empty else "") + piece
            empty = 0
        ranks.append(text + (str(empty) if empty else ""))
    hand = ""
    for letter in "RBGSNLPrbgsnlp":
        count = hands.get(letter, 0)
        hand += (str(count) if count > 1 else "") + letter if count else ""
    return f"{'/'.join(ranks)} {side} {hand or '-'} {number}"


def read_sfen(sfen: str) -> tuple[dict, Counter, str, int]:
    board, side, hand, number = sfen.split()
    squares, hands = {}, Counter()
    for rank, text in enumerate(board.split("/"), 1):
        file, plus = 9, ""
        for letter in text:
            if letter.isdigit():
                file -= int(letter)
            elif letter == "+":
                plus = "+"
            else:
                squares[file, rank] = plus + letter
                file, plus = file - 1, ""
    count = ""
    for letter in hand.replace("-", ""):
        if letter.isdigit():
            count += letter
        else:
            hands[letter] += int(count or 1)
            count = ""
    return squares, hands, side, int(number)


def turned(squares: dict, hands: Counter, side: str) -> tuple[dict, Counter, str]:
    """The same position with the colours exchanged."""
    return (
        {(10 - file, 10 - rank): piece.swapcase() for (file, rank), piece in squares.items()},
        Counter({letter.swapcase(): count for letter, count in hands.items()}),
        "bw"[side == "b"],
    )


def king(squares: dict, side: str) -> tuple[int, int]:
    return next(square for square, piece in squares.items() if piece == ("K" if side == "b" else "k"))


def playable(squares: dict, hands: Counter, side: str) -> bool:
    """No king to be taken. cshogi does not report a king attacked by a king, so that is looked at here."""
    (file, rank), (other_file, other_rank) = king(squares, "b"), king(squares, "w")
    if max(abs(file - other_file), abs(rank - other_rank)) <= 1:
        return False
    return not cshogi.Board(write_sfen(squares, hands, "bw"[side == "b"])).is_check()


def may_stand(squares: dict, piece: str, square: tuple[int, int]) -> bool:
    """An empty square, no second pawn on the file, a move left to make."""
    file, rank = square
    ahead = rank - 1 if piece.isupper() else 9 - rank
    if square in squares or ahead < {"P": 1, "L": 1, "N": 2}.get(piece.upper(), 0):
        return False
    return piece.upper() != "P" or all(squares.get((file, other)) != piece for other in range(1, 10))


# The sources of positions.


def playouts(seed: int, wanted: int) -> list[str]:
    """Distinct positions of random games; games differ in how much their players like giving check."""
    draw = random.Random(seed)
    found = {}
    game = 0
    while len(found) < wanted:
        board = cshogi.Board(STARTS[game % len(STARTS)])
        like = (0.0, 0.4, 0.9)[game // len(STARTS) % 3]
        game += 1
        for _ in range(180):
            # Neighbours are alike: every fourth is kept, so that they come from more games.
            if draw.random() < 0.25:
                found[board.sfen()] = None
            moves = list(board.legal_moves)
            if not moves:
                break
            if draw.random() < like:
                checks = []
                for move in moves:
                    board.push(move)
                    if board.is_check():
                        checks.append(move)
                    board.pop()
                moves = checks or moves
            board.push(draw.choice(moves))
    return list(found)[:wanted]


def composed(seed: int, wanted: int) -> list[str]:
    """The whole set, or most of it, thrown on the board and into the hands."""
    draw = random.Random(seed)
    everywhere = [(file, rank) for file in range(1, 10) for rank in range(1, 10)]
    found = []
    while len(found) < wanted:
        squares, hands = {}, Counter()
        squares[draw.choice(everywhere)] = "K"
        squares[draw.choice([square for square in everywhere if square not in squares])] = "k"
        in_hand = draw.random()
        for letter, count in FULL_SET.items():
            for _ in range(count):
                if draw.random() < 0.05:
                    continue
                piece = draw.choice([letter, letter.lower()])
                if draw.random() < in_hand:
                    hands[piece] += 1
                    continue
                if letter in PROMOTES and draw.random() < 0.2:
                    piece = "+" + piece
                square = draw.choice(everywhere)
                if may_stand(squares, piece, square):
                    squares[square] = piece
                else:
                    hands[piece[-1]] += 1
        side = draw.choice("bw")
        if playable(squares, hands, side):
            found.append(write_sfen(squares, hands, side, draw.randrange(1, 500)))
    return found


def entering_kings(seed: int, wanted: int) -> list[str]:
    """A king about the last three ranks among its pieces, with points about the number that is needed."""
    draw = random.Random(seed)
    found = []
    while len(found) < wanted:
        squares, hands = {}, Counter()
        squares[draw.randrange(1, 10), draw.choice([1, 2, 3, 3, 4])] = "K"
        squares[draw.randrange(1, 10), draw.randrange(6, 10)] = "k"
        pieces = [letter for letter, count in FULL_SET.items() for _ in range(count)]
        draw.shuffle(pieces)
        mine = draw.randrange(16, 30)
        for place, letter in enumerate(pieces):
            if place >= mine:
                hands[letter.lower()] += draw.random() < 0.7
                continue
            piece = "+" + letter if letter in PROMOTES and draw.random() < 0.7 else letter
            square = draw.randrange(1, 10), draw.choice([1, 1, 1, 2, 2, 2, 3, 3, 3, 4])
            if may_stand(squares, piece, square) and draw.random() < 0.8:
                squares[square] = piece
            else:
                hands[letter] += 1
        for _ in range(draw.choice([0, 0, 1, 3])):
            square = draw.randrange(1, 10), draw.randrange(1, 6)
            letter = next((letter for letter in "pgsb" if hands[letter]), None)
            if letter and may_stand(squares, letter, square):
                squares[square] = letter
                hands[letter] -= 1
        position = squares, hands, "b" if draw.random() < 0.9 else "w"
        if draw.random() < 0.5:
            position = turned(*position)
        if playable(*position):
            found.append(write_sfen(*position))
    return found


def hunted_kings(seed: int, wanted: int) -> list[str]:
    """A king near the edge, a few of the enemy's pieces about it, a pawn in the enemy's hand; either side to move."""
    draw = random.Random(seed)
    found = []
    while len(found) < wanted:
        squares, hands = {(5, 9): "K"}, Counter("P")
        file, rank = draw.randrange(1, 10), draw.choice([1, 1, 2])
        squares[file, rank] = "k"
        for pieces, low, high in (("GGSSNLRB", 2, 5), ("lnsgp", 1, 4)):
            for piece in draw.sample(pieces, draw.randrange(low, high)):
                square = file + draw.randrange(-2, 3), rank + draw.randrange(-1, 4)
                if 1 <= square[0] <= 9 and 1 <= square[1] <= 8 and may_stand(squares, piece, square):
                    squares[square] = piece
        position = squares, hands, "b" if draw.random() < 0.75 else "w"
        if draw.random() < 0.5:
            position = turned(*position)
        if playable(*position):
            found.append(write_sfen(*position))
    return found


def drop_mate(sfen: str) -> str | None:
    """The pawn drop that the rules forbid only because it mates, if there is one.

    Found without asking anyone for pawn drops: the pawn is put on the board and the position after it looked at.
    """
    squares, hands, side, _ = read_sfen(sfen)
    pawn, other = ("P", "w") if side == "b" else ("p", "b")
    file, rank = king(squares, other)
    square = file, rank + (1 if side == "b" else -1)
    if not hands[pawn] or not 1 <= square[1] <= 9 or not may_stand(squares, pawn, square):
        return None
    squares[square] = pawn
    hands[pawn] -= 1
    if cshogi.Board(write_sfen(squares, hands, side)).is_check():
        return None
    after = cshogi.Board(write_sfen(squares, hands, other))
    assert after.is_check()
    if list(after.legal_moves):
        return None
    return f"P*{file}{'abcdefghi'[square[1] - 1]}"


class Position(NamedTuple):
    """What cshogi says of a position."""

    sfen: str
    moves: list[str]
    check: bool
    declares: bool


@pytest.fixture(scope="session")
def sample() -> list[Position]:
    sfens = [
        *DROP_MATES,
        *playouts(20261130, 7000),
        *composed(4, 1500),
        *entering_kings(27, 1000),
        *hunted_kings(81, 5000),
    ]
    positions = []
    for sfen in sfens:
        board = cshogi.Board(sfen)
        assert board.sfen() == sfen
        moves = sorted(cshogi.move_to_usi(move) for move in board.legal_moves)
        positions.append(Position(sfen, moves, board.is_check(), board.is_nyugyoku()))
    return positions


def test_the_sample_holds_what_it_is_meant_to_hold(sample):
    seen = Counter()
    for position in sample:
        squares, hands, side, _ = read_sfen(position.sfen)
        seen["positions"] += 1
        seen["Black to move" if side == "b" else "White to move"] += 1
        seen["in check, " + side] += position.check
        seen["mates"] += not position.moves
        seen["can declare, " + side] += position.declares
        pieces = sum(hands.values()) + len(squares)
        seen["whole set" if pieces == 40 else "handicap"] += 1
        seen["drop mates, " + side] += drop_mate(position.sfen) is not None
        # Pieces that could promote and need not: the moves that generators like to leave out.
        both = {move for move in position.moves if move + "+" in position.moves}
        kinds = {squares[int(move[0]), "abcdefghi".index(move[1]) + 1].upper() for move in both}
        for kind in "PLBR":
            seen[f"{kind} need not promote"] += kind in kinds
    assert seen["positions"] >= 6000 + 5000
    assert min(seen["Black to move"], seen["White to move"]) >= 4000, seen
    assert min(seen["in check, b"], seen["in check, w"]) >= 500, seen
    assert seen["mates"] >= 30, seen
    assert min(seen["whole set"], seen["handicap"]) >= 2000, seen
    assert min(seen["can declare, b"], seen["can declare, w"]) >= 100, seen
    assert min(seen["drop mates, b"], seen["drop mates, w"]) >= 10, seen
    assert min(seen[f"{kind} need not promote"] for kind in "PLBR") >= 200, seen


def test_every_answer_about_the_sample(rules, sample):
    answers = rules.answers([position.sfen for position in sample])
    for position, answer in zip(sample, answers):
        assert answer[0] == "ok" and len(answer) == 5, (position.sfen, answer)
        _, check, declares, moves, sfen = answer
        assert moves.split() == position.moves, (position.sfen, set(moves.split()) ^ set(position.moves))
        assert check == str(int(position.check)), position.sfen
        assert declares == str(int(position.declares)), position.sfen
        assert sfen == position.sfen


def test_a_pawn_that_would_mate_from_the_hand_is_not_dropped(rules, sample):
    mates = {position.sfen: drop for position in sample if (drop := drop_mate(position.sfen))}
    assert mates.items() >= DROP_MATES.items()
    for (sfen, drop), answer in zip(mates.items(), rules.answers(list(mates))):
        assert drop not in answer[3].split(), sfen
        # With a lance instead, the drop stands: it is the rule about pawns that forbids it, nothing else.
        squares, hands, side, number = read_sfen(sfen)
        pawn, lance = ("P", "L") if side == "b" else ("p", "l")
        hands[pawn] -= 1
        hands[lance] += 1
        if sum(piece.upper() in ("L", "+L") for piece in squares.values()) + hands["L"] + hands["l"] > 4:
            continue
        (answer,) = rules.answers([write_sfen(squares, hands, side, number)])
        assert drop.replace("P", "L") in answer[3].split(), sfen


def test_bad_lines_are_refused_and_the_next_one_is_answered(rules):
    good = "4k4/9/9/9/4r4/9/9/4G4/4K4 b - 1"
    bad = [
        "",
        "startpos",
        START + " moves 7g7f",
        "lnsgkgsnl/9 b - 1",
        "4k4/9/9/9/9/9/9/9/9 b - 1",
        "4k4/9/9/9/4R4/9/9/9/4K4 b - 1",
        "4k4/4K4/9/9/9/9/9/9/9 w - 1",
        "4k4/9/9/9/9/9/9/9/4K4 b 19P 1",
    ]
    lines = [line for text in bad for line in (text, good)]
    answers = rules.answers(lines)
    for text, answer, after in zip(bad, answers[::2], answers[1::2]):
        assert answer[0] == "error" and len(answer) == 2 and answer[1], text
        assert after == ["ok", "0", "0", "5h5g 5i4h 5i4i 5i6h 5i6i", good]


@pytest.mark.parametrize(
    "sfen, sizes",
    [(START, [30, 900, 25470, 719731]), (MATSURI, [207, 28684, 4809015]), (MOST_MOVES, [593, 105677, 53393368])],
    ids=["start", "matsuri", "most_moves"],
)
def test_trees_have_the_known_sizes(rules, sfen, sizes):
    assert [rules.perft(depth, sfen) for depth in range(1, len(sizes) + 1)] == sizes


def perft(board: cshogi.Board, depth: int) -> int:
    if depth == 1:
        return len(list(board.legal_moves))
    leaves = 0
    for move in list(board.legal_moves):
        board.push(move)
        leaves += perft(board, depth - 1)
        board.pop()
    return leaves


@pytest.mark.parametrize("sfen", [START, MATSURI, *DROP_MATES], ids=["start", "matsuri", "drop_1f", "drop_7g"])
def test_trees_are_as_large_as_those_of_cshogi(rules, sfen):
    assert rules.perft(3, sfen) == perft(cshogi.Board(sfen), 3)
