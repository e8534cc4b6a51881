"""The oracle held to values worked out by hand and to published vectors. Needs no binary."""

import dataclasses
import math
import struct

import cshogi
import pytest
import xxhash

from oracle import corpora, faults, legality, mpk, order, position, streams, teacher
from oracle.fold import fold, footer, mean_away
from oracle.mpk import Candidate, Header, Record

A, B, C = 3095, 18496, 10408  # 7g7f, 8h2b+, P*5e
BLACK_TO_MOVE = position.parse_sfen(corpora.START)
WHITE_TO_MOVE = position.parse_sfen(corpora.WHITE_START)


# mpk.py


def test_the_header_of_a_published_stream():
    header = Header(mate_scale=32000, mate_slack=100, fv_scale=28, eval_coef=1512.173)
    blob = bytes.fromhex("4d504b31 02006000 0001007d 1c006400 8905bd44 00000000")
    assert header.pack() == blob
    assert Header.unpack(blob).pack() == blob
    assert (header.effective_slack(), header.is_mate(-31900), header.is_mate(31899)) == (100, True, False)


def test_effective_slack():
    assert Header().effective_slack() == 320
    assert Header(version=1, mate_slack=100).effective_slack() == 320
    assert Header(mate_scale=0, mate_slack=100).effective_slack() == 0
    assert not Header(mate_scale=0).is_mate(32767)


def test_a_record_byte_by_byte():
    record = Record(258, -0.0, 0.5, BLACK_TO_MOVE, (Candidate(A, 0, -2), Candidate(B, 0, 258)))
    blob = mpk.pack_record(record)
    assert blob[:12].hex(" ") == "02 01 00 00 00 80 00 00 00 3f 02 00"
    assert blob[12:108] == BLACK_TO_MOVE
    assert blob[108:].hex(" ") == "17 0c 00 00 00 00 fe ff 40 48 00 00 00 00 02 01"
    (read,) = mpk.parse_stream(Header().pack() + blob)[1]
    assert read == record and math.copysign(1, read.value_z) == -1


def test_streams_survive_files_frames_and_the_published_loop(tmp_path):
    header, records, _ = streams.duplicates()
    mpk.write_stream(tmp_path / "a.mpk", header, records)
    mpk.write_stream(tmp_path / "a.mpk.zst", header, records, frames=7)
    assert mpk.read_stream(tmp_path / "a.mpk") == mpk.read_stream(tmp_path / "a.mpk.zst")
    assert mpk.read_stream(tmp_path / "a.mpk")[1] == records
    walked = list(mpk.seed_reader(tmp_path / "a.mpk"))
    assert walked[7] == (*records[7][:4], [(c.mv, c.cp) for c in records[7].candidates])
    assert len(walked) == len(records)


@pytest.mark.parametrize("name", faults.bad_streams())
def test_each_bad_stream_has_its_fault_where_it_says(name):
    bad = faults.bad_streams()[name]
    with pytest.raises(mpk.StreamFault) as fault:
        mpk.parse_stream(bad.blob)
    assert fault.value.record == bad.record
    if bad.record is not None:
        assert fault.value.offset == bad.first


# position.py and legality.py


def test_the_initial_position_square_by_square():
    by_hand = {"9a": 0x16, "5a": 0x10, "8b": 0x11, "2b": 0x12, "5c": 0x17, "9g": 0x07, "8h": 0x02, "2h": 0x01}
    by_hand |= {"5i": 0x00, "4i": 0x03, "3i": 0x04, "2i": 0x05, "1i": 0x06, "5e": 0xFF}
    indices = {"9a": 0, "5a": 36, "8b": 10, "2b": 64, "5c": 38, "9g": 6, "8h": 16, "2h": 70}
    indices |= {"5i": 44, "4i": 53, "3i": 62, "2i": 71, "1i": 80, "5e": 40}
    assert {name: BLACK_TO_MOVE[index] for name, index in indices.items()} == by_hand
    assert BLACK_TO_MOVE[:81].count(0xFF) == 41
    assert BLACK_TO_MOVE[81:] == bytes(15) and WHITE_TO_MOVE[81:] == bytes(14) + b"\1"


def test_hands_and_promoted_pieces():
    packed = position.parse_sfen("+R+B+S+N+L+P1k1/9/9/9/9/9/9/9/4K4 w RB2G3S4N2L17Prb2gsnlp 8")
    assert list(packed[0:54:9]) == [8, 9, 10, 11, 12, 13] and packed[63] == 0x10
    assert list(packed[81:95]) == [17, 2, 4, 3, 2, 1, 1, 1, 1, 1, 1, 2, 1, 1]
    assert packed[95] == 1


def test_positions_round_trip_and_agree_with_cshogi():
    for packed, moves in streams.positions():
        text = position.to_sfen(packed)
        assert position.parse_sfen(text) == position.parse_sfen(text + " 12") == packed
        board = cshogi.Board(text + " 1")
        assert board.sfen() == text + " 1"
        assert legality.in_check(packed, packed[95]) == board.is_check()
        assert not position.structural_faults(packed) and not legality.waiting_side_in_check(packed)
        assert legality.legal_moves(packed) == {position.move16_to_usi(mv) for mv in moves}


def test_move16_by_hand():
    assert position.usi_to_move16("7g7f") == 24 << 7 | 23 == A
    assert position.usi_to_move16("8h2b+") == 0x4000 | 16 << 7 | 64 == B
    assert position.usi_to_move16("P*5e") == 81 << 7 | 40 == C
    assert position.usi_to_move16("R*9a") == 87 << 7
    drops = [position.usi_to_move16(f"{kind}*9a") >> 7 for kind in "PLNSGBR"]
    assert drops == [81, 82, 83, 84, 85, 86, 87]
    for text in ("7g7f", "8h2b+", "P*5e", "1i9a+", "G*1i"):
        assert position.move16_to_usi(position.usi_to_move16(text)) == text


def test_check_from_kings_and_hidden_pieces():
    assert legality.waiting_side_in_check(position.parse_sfen(corpora.ADJACENT_KINGS))
    assert legality.waiting_side_in_check(position.parse_sfen(corpora.WAITING_IN_CHECK))
    assert not legality.in_check(position.parse_sfen("4k4/4p4/4R4/9/9/9/9/9/4K4 b - 1"), 1)
    assert legality.in_check(position.parse_sfen("4k4/9/3N5/9/9/9/9/9/4K4 b - 1"), 1)
    assert not legality.in_check(position.parse_sfen("4k4/4n4/9/9/9/9/9/9/4K4 b - 1"), 0)


# teacher.py


@pytest.mark.parametrize("strict", [False, True])
def test_every_hand_made_row_gets_the_answer_written_beside_it(strict):
    cases = corpora.cases()
    verdict = teacher.distil_rows([c.row for c in cases], Header(), strict)
    got = {refusal.row: refusal.reason for refusal in verdict.refusals}
    for number, case in enumerate(cases):
        assert got.get(number) == (case.want_strict if strict else case.want), case
    assert len(verdict.records) + len(verdict.refusals) == len(cases)


@pytest.mark.parametrize("name", corpora.STORAGES)
def test_no_storage_changes_an_answer(tmp_path, name):
    kept = corpora.write_corpus(tmp_path / "c.parquet", [c.row for c in corpora.cases()], corpora.STORAGES[name])
    assert len(kept) > 120
    assert teacher.distil(tmp_path / "c.parquet", Header(), True) == teacher.distil_rows(kept, Header(), True)


def test_values_of_a_record():
    assert [teacher.value_z(*pair) for pair in ((1, 0), (1, 1), (-1, 0), (-1, 1))] == [1, -1, -1, 1]
    assert [math.copysign(1, teacher.value_z(0, side)) for side in (0, 1)] == [1, 1]
    near = Header(mate_scale=1000, mate_slack=100, eval_coef=1000.0)
    assert [teacher.value_q(cp, near) for cp in (900, -900, 0)] == [1, -1, 0]
    assert teacher.value_q(500, near) == pytest.approx((math.e - 1) / (math.e + 1), abs=1e-7)
    assert teacher.value_q(2000, Header(mate_scale=0, eval_coef=1000.0)) < 1


# fold.py


def rows_of(header, *records):
    """Each record as (position, ply, value_z, value_q, [(mv, visits, cp)])."""
    made = [Record(ply, z, q, packed, tuple(Candidate(*c) for c in listed)) for packed, ply, z, q, listed in records]
    return fold(header, made)[0]


def test_means_round_half_away_from_zero():
    pairs = {(3, 2): 2, (-3, 2): -2, (1, 2): 1, (-1, 2): -1, (5, 3): 2, (4, 3): 1, (-4, 3): -1, (0, 5): 0, (10, 4): 3}
    assert {pair: mean_away(*pair) for pair in pairs} == pairs


def test_two_searches_of_one_position_are_one_row():
    (row,) = rows_of(
        Header(),
        (BLACK_TO_MOVE, 9, 1.0, 0.5, [(B, 0, 100), (A, 0, 1)]),
        (BLACK_TO_MOVE, 4, -1.0, -0.25, [(C, 0, 0), (A, 0, -2)]),
    )
    assert (row.ply, row.weight, row.value_z, row.value_q) == (4, 2, None, 0.125)
    assert [(c.mv, c.cp) for c in row.candidates] == [(B, 100), (C, 0), (A, -1)]
    total = 1 + math.exp(-1) + math.exp(-1.01)
    assert [c.prob for c in row.candidates] == pytest.approx([1 / total, math.exp(-1) / total, math.exp(-1.01) / total])


def test_a_mate_is_one_hot_on_the_leader_after_the_fold():
    (mate,) = rows_of(Header(), (BLACK_TO_MOVE, 1, 0, 0, [(C, 0, 5), (B, 0, -29680), (A, 0, 5)]))
    assert mate.candidates == ((A, 1.0, 5), (C, 0.0, 5), (B, 0.0, -29680))
    (mean,) = rows_of(Header(), *[(BLACK_TO_MOVE, 1, 0, 0, [(A, 0, cp), (B, 0, 29000)]) for cp in (29999, 29300)])
    assert mean.candidates[0][::2] == (A, 29650) and mean.candidates[0].prob < 1


def test_black_point_of_view_reads_backwards_for_white_only():
    listed = [(A, 0, 100), (B, 0, 0)]
    rows = rows_of(Header(pov=1), (BLACK_TO_MOVE, 1, 0, 0, listed), (WHITE_TO_MOVE, 1, 0, 0, listed))
    black = {row.packed: row for row in rows}
    high = math.e / (1 + math.e)
    assert [c[::2] for c in black[BLACK_TO_MOVE].candidates] == [(A, 100), (B, 0)]
    assert [c[::2] for c in black[WHITE_TO_MOVE].candidates] == [(B, 0), (A, 100)]
    assert [r.candidates[0].prob for r in black.values()] == pytest.approx([high, high])
    (mate,) = rows_of(Header(pov=1), (WHITE_TO_MOVE, 1, 0, 0, [(A, 0, 30000), (B, 0, -3), (C, 0, 7)]))
    assert mate.candidates == ((B, 1.0, -3), (C, 0.0, 7), (A, 0.0, 30000))


def test_visits_are_summed_and_outcomes_averaged():
    q = struct.unpack("<f", struct.pack("<f", 0.1))[0]
    (row,) = rows_of(
        streams.VISITS_HEADER,
        (BLACK_TO_MOVE, 3, 1.0, q, [(B, 4_000_000_000, mpk.NO_CP), (A, 3_999_999_999, mpk.NO_CP)]),
        (BLACK_TO_MOVE, 2, -0.0, q, [(B, 4_000_000_000, mpk.NO_CP), (A, 4_000_000_000, mpk.NO_CP)]),
    )
    assert (row.value_z, row.value_q, row.weight, row.ply) == (0.5, q, 2, 2)
    assert row.candidates == ((A, 0.5, None), (B, 0.5, None))  # unequal sums, one f32: the lower move leads
    (drawn,) = rows_of(streams.VISITS_HEADER, (BLACK_TO_MOVE, 1, -0.0, -0.0, [(A, 1, mpk.NO_CP)]))
    assert math.copysign(1, drawn.value_z) == 1


def test_outcomes_that_are_not_known_are_in_no_mean():
    header = dataclasses.replace(streams.VISITS_HEADER, version=3)
    listed = [(A, 1, mpk.NO_CP)]
    rows = rows_of(
        header,
        *[(BLACK_TO_MOVE, 1, z, 0.0, listed) for z in (1.0, mpk.NO_OUTCOME, -1.0, 1.0)],
        (WHITE_TO_MOVE, 1, mpk.NO_OUTCOME, 0.0, listed),
    )
    found = {row.packed: (row.value_z, row.weight) for row in rows}
    assert found[BLACK_TO_MOVE] == (pytest.approx(1 / 3), 4) and found[WHITE_TO_MOVE] == (None, 1)


def test_a_move_twice_refuses_the_record_and_not_its_neighbour():
    good = Record(1, 0.0, 0.0, BLACK_TO_MOVE, (Candidate(A, 0, 1),))
    rows, refused = fold(Header(), [good, good._replace(candidates=good.candidates * 2)])
    assert (rows[0].weight, refused) == (1, 1)


def test_footers():
    assert footer(Header(mate_scale=32000, mate_slack=100, fv_scale=28)) == {
        "pov": "side_to_move", "policy_source": "softmax_cp", "softmax_temp_cp": "100", "mate_scale": "32000",
        "mate_slack": "100", "eval_coef": "1512.173", "fv_scale": "28",
        "packed": "mailbox position, side to move in the last byte",
    }  # fmt: skip
    visits = footer(streams.VISITS_HEADER)
    assert visits["softmax_temp_cp"] == "0" and visits["mate_slack"] == "0" and visits["policy_source"] == "visits"


@pytest.mark.parametrize("name", streams.SYNTHETIC)
def test_synthetic_streams_are_sound_and_do_meet(name):
    header, records, _ = streams.SYNTHETIC[name]()
    assert mpk.parse_stream(mpk.stream_bytes(header, records)) == (Header.unpack(header.pack()), records)
    rows, refused = fold(header, records)
    assert len(rows) < len(records) and refused == 0
    assert all(sum(c.prob for c in row.candidates) == pytest.approx(1, abs=1e-5) for row in rows)


# order.py


def test_chacha20_block_of_rfc_8439():
    nonce = struct.unpack("<3I", bytes.fromhex("000000090000004a00000000"))
    state = [*order.CONSTANTS, *struct.unpack("<8I", bytes(range(32))), 1, *nonce]
    assert struct.pack("<16I", *order.chacha_block(state, 20)).hex() == (
        "10f1e7e4d13b5915500fdd1fa32071c4c7d1f4c733c068030422aa9ac3d46c4e"
        "d2826446079faa0914c2d705d98b02a2b5129cd1de164eb9cbd083e8a2503c4e"
    )


def test_chacha8_key_stream_of_a_zero_key():
    """The first test vector of draft-strombergson-chacha-test-vectors, 8 rounds, 256-bit key, two blocks."""
    blocks = [struct.pack("<16I", *order.stream_block(bytes(32), 0, counter)).hex() for counter in (0, 1)]
    assert blocks == [
        "3e00ef2f895f40d67f5bb8e81f09a5a12c840ec3ce9a7f3b181be188ef711a1e"
        "984ce172b9216f419f445367456d5619314a42a3da86b001387bfdb80e0cfe42",
        "d2aefa0deaa5c151bf0adb6c01f2a5adc0fd581259f9a2aadcf20f8fd566a26b"
        "5032ec38bbc5da98ee0c6f568b872a65a08abf251deb21bb4b56e5d8821e68aa",
    ]


def test_draws_are_those_of_a_seeded_generator():
    """ChaCha8Rng of rand_chacha 0.9 with this key, `set_stream(slot)`, `next_u64` numbers 0, 1, 7, 8 and 39."""
    assert {slot: [order.draw(slot, rank) for rank in (0, 1, 7, 8, 39)] for slot in (0, 1, 4095)} == {
        0: [0x41E32A43B00749A2, 0xC62633C25EAAE605, 0x580E4BE1EF19B2BA, 0x06062DD06015C052, 0x2E96E321C679F2D5],
        1: [0x585E8B100626F856, 0xD6C357D565BDC057, 0x880770E990FA831B, 0xC2667888AC6D1C99, 0xBE1E8E247A84B49D],
        4095: [0xED93D0275396428D, 0x8BF31D8D41060B4E, 0xBA6ED6CFF80EAF41, 0x89B6D51D6EE24154, 0xB56A7C2602D44548],
    }


def test_slots_are_the_top_bits_of_the_hash():
    assert xxhash.xxh3_128_intdigest(bytes(range(96))) == 0xC57556E9CCB97EFA6E53AB55B4F5558B
    assert (order.slot_of(bytes(range(96))), order.slot_of(bytes(96))) == (0xC57, 0x656)


def test_order_ranks_within_slots_and_forgets_how_rows_came():
    keys = [struct.pack(">I92x", n) for n in range(9000)]
    ordered = order.order_keys(keys)
    assert ordered == order.order_keys(keys[::-1]) and sorted(ordered) == sorted(keys)
    slot = order.slot_of(keys[0])
    members = sorted((k for k in keys if order.slot_of(k) == slot), key=xxhash.xxh3_128_intdigest)
    draws = {key: order.draw(slot, rank) for rank, key in enumerate(members)}
    assert len(members) > 1
    assert [k for k in ordered if k in draws] == sorted(draws, key=draws.get)
