"""Positions: the same as cshogi's along random games, and what is refused is refused by name."""

import pickle
import random
import xml.etree.ElementTree as ElementTree

import cshogi
import pytest

import manaka
from manaka import Position


def test_random_games_agree_with_cshogi():
    dice = random.Random(20261)
    for _ in range(25):
        board = cshogi.Board()
        position = Position.startpos()
        for _ in range(120):
            legal = position.legal_moves()
            assert sorted(legal) == sorted(cshogi.move_to_usi(move) for move in board.legal_moves)
            assert position.legal_moves16().tolist() == [manaka.move16(usi) for usi in legal]
            assert position.in_check() == board.is_check()
            assert position.is_mated() == (not legal)
            assert position.can_declare() == board.is_nyugyoku()
            assert position.sfen == board.sfen()
            assert position.side == ("black", "white")[board.turn]
            black, white = board.pieces_in_hand
            for hand, side in ((black, "black"), (white, "white")):
                want = {letter: n for letter, n in zip("PLNSGBR", hand) if n}
                assert position.hands[side] == want
            if not legal:
                break
            move = dice.choice(legal)
            assert position.is_legal(move) and position.is_legal(manaka.move16(move))
            board.push_usi(move)
            position = position.play(move)


def test_a_position_is_its_96_bytes():
    start = Position.startpos()
    assert start.packed == bytes(start) and len(start.packed) == 96
    again = Position.from_packed(start.packed)
    assert again == start and hash(again) == hash(start) and again.ply is None and start.ply == 1
    assert start.play("7g7f") != start and start != "startpos"
    assert {start, again} == {start}
    assert again.sfen + " 1" == start.sfen
    assert eval(repr(start)) == start
    copy = pickle.loads(pickle.dumps(start))
    assert (copy, copy.ply) == (start, 1)
    unsound = Position.from_packed(bytes(96), check=False)
    assert pickle.loads(pickle.dumps(unsound)) == unsound


def test_pieces_are_named_by_square():
    position = Position.from_sfen("4k4/9/9/9/9/9/9/1+R7/4K4 w 2P 12")
    assert position.pieces == {"5a": "k", "8h": "+R", "5i": "K"}
    assert (position.side, position.ply, position.hands) == ("white", 12, {"black": {"P": 2}, "white": {}})


def test_what_is_no_position_is_refused_with_every_fault():
    with pytest.raises(manaka.PositionError) as refused:
        Position.from_sfen("4k4/9/9/9/9/9/9/9/4K4 x - 1")
    assert (refused.value.kind, refused.value.offset) == ("malformed_sfen", 22)
    with pytest.raises(manaka.PositionError) as refused:
        Position.from_sfen("P3k4/9/9/9/9/9/9/P8/P8 b - 1")
    assert refused.value.kind == "unsound"
    assert refused.value.faults == ["no_black_king", "nifu_black", "dead_pawn"]
    with pytest.raises(manaka.PositionError) as refused:
        Position.from_packed(b"\xff" * 96)
    assert refused.value.faults == ["side_byte", "no_black_king", "no_white_king", *[
        f"too_many_{kind}" for kind in ("pawns", "lances", "knights", "silvers", "golds", "bishops", "rooks")
    ]]
    with pytest.raises(manaka.UsageError, match="96 bytes, not 95"):
        Position.from_packed(bytes(95))
    checked = Position.from_sfen("4k4/9/9/9/9/9/9/9/4K3r w - 1")
    with pytest.raises(manaka.PositionError) as refused:
        checked.legal_moves()
    assert refused.value.kind == "unplayable"


def test_moves_that_are_none_and_moves_that_are_forbidden():
    start = Position.startpos()
    for call in (start.is_legal, start.play, manaka.move16):
        with pytest.raises(manaka.IllegalMoveError) as refused:
            call("7g7")
        assert refused.value.kind == "no_move"
    with pytest.raises(manaka.IllegalMoveError) as refused:
        manaka.usi(0x8000)
    assert refused.value.kind == "no_move"
    with pytest.raises(manaka.IllegalMoveError) as refused:
        start.play("7g7e")
    assert refused.value.kind == "illegal_move"
    assert not start.is_legal("7g7e") and not start.is_legal(0xFFFF)


@pytest.mark.parametrize("move, bits", [("7g7f", 24 << 7 | 23), ("8h2b+", 1 << 14 | 16 << 7 | 64), ("P*5e", 81 << 7 | 40)])
def test_moves_in_sixteen_bits(move, bits):
    assert (manaka.move16(move), manaka.usi(bits)) == (bits, move)


def test_the_board_is_drawn_as_view_draws_it():
    text = str(Position.startpos())
    assert text.startswith("後手の持駒：なし\n  ９ ８ ７ ６ ５ ４ ３ ２ １\n")
    assert "| ・ 角 ・ ・ ・ ・ ・ 飛 ・|八\n" in text and text.endswith("先手番\n")
    assert "Black to move" in Position.startpos().text(ascii=True)


def test_the_svg_is_one_well_formed_element():
    start = Position.startpos()
    svg = ElementTree.fromstring(start._repr_svg_())
    assert svg.tag == "{http://www.w3.org/2000/svg}svg"
    assert start.svg("7g7f") != start.svg() == start._repr_svg_()
    assert start.svg(manaka.move16("7g7f")) == start.svg("7g7f")
