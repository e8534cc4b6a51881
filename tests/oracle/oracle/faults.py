"""Streams with one fault each, and where it is (docs/spec/stream.md, validation)."""

import math
import struct
from typing import NamedTuple

from .mpk import NO_CP, SOURCE_VISITS, Candidate, Header, Record, pack_record, stream_bytes
from .position import usi_to_move16
from .streams import VISITS_HEADER, positions

GOOD_RECORDS = 23  # sound records before the bad one, so that its number is not a number met by chance


class BadStream(NamedTuple):
    """`record` counts from 0; the offset that is reported must lie in `first..=last`, the bad record's own bytes."""

    blob: bytes
    record: int | None = None
    first: int = 0
    last: int = 0


def sound_records(header: Header, count: int = GOOD_RECORDS) -> list[Record]:
    records = []
    for number, (packed, moves) in enumerate(positions()[:count]):
        half = (40, NO_CP) if header.policy_source == SOURCE_VISITS else (0, 40 + number)
        listed = tuple(Candidate(mv, *half) for mv in moves[:3])
        records.append(Record(number, 1.0, 0.25, packed, listed))
    return records


def _after_sound(header: Header, bad: bytes, follow: bool = True) -> BadStream:
    head = stream_bytes(header, sound_records(header))
    tail = pack_record(sound_records(header)[0]) if follow else b""
    return BadStream(head + bad + tail, GOOD_RECORDS, len(head), len(head) + len(bad))


def _with_header(**changes) -> BadStream:
    return BadStream(stream_bytes(Header(**changes), sound_records(Header())))


def _with_record(header: Header = Header(), **changes) -> BadStream:
    record = sound_records(header)[3]._replace(**changes)
    return _after_sound(header, pack_record(record))


def _with_candidates(header: Header, *changes: dict) -> BadStream:
    """The n-th candidate of the bad record takes the n-th change."""
    listed = list(sound_records(header)[3].candidates)
    for index, change in enumerate(changes):
        listed[index] = listed[index]._replace(**change)
    return _with_record(header, candidates=tuple(listed))


def _cut_record(keep: int) -> BadStream:
    return _after_sound(Header(), pack_record(sound_records(Header())[3])[:keep], follow=False)


def bad_streams() -> dict[str, BadStream]:
    scores = Header()
    last = sound_records(scores)[3]
    return {
        "empty file": BadStream(b""),
        "wrong magic": _with_header(magic=b"MPK2"),
        "magic reversed": _with_header(magic=b"1KPM"),
        "version 0": _with_header(version=0),
        "version 4": _with_header(version=4),
        "packed_len 95": _with_header(packed_len=95),
        "unknown pov": _with_header(pov=2),
        "unknown policy_source": _with_header(policy_source=2),
        "unknown flag": _with_header(flags=1),
        "unknown high flag": _with_header(flags=1 << 31),
        "truncated header": BadStream(scores.pack()[:23]),
        "header cut after the magic": BadStream(scores.pack()[:4]),
        "truncated record, fixed part": _cut_record(7),
        "truncated record, position": _cut_record(12 + 95),
        "truncated record, candidates": _cut_record(12 + 96 + 8 + 5),
        "truncated record, one byte": _cut_record(1),
        "n_cand 65535 at the end": _after_sound(scores, pack_record(last, n_cand=65535), follow=False),
        "n_cand 65535 and nothing after": _after_sound(scores, pack_record(last, n_cand=65535)[:12], follow=False),
        "no candidates": _with_record(candidates=()),
        "visits absent in a visits stream": _with_candidates(VISITS_HEADER, *[{"visits": 0, "cp": 3}] * 3),
        "visits half absent": _with_candidates(VISITS_HEADER, {"visits": 0}),
        "cp absent in a score stream": _with_candidates(scores, *[{"visits": 3, "cp": NO_CP}] * 3),
        "cp half absent": _with_candidates(scores, {}, {"cp": NO_CP}),
        "both halves absent": _with_candidates(scores, *[{"cp": NO_CP}] * 3),
        "value_z 0.5": _with_record(value_z=0.5),
        "value_z 2": _with_record(value_z=2.0),
        "value_z -2 in version 3": _with_record(Header(version=3), value_z=-2.0),
        "value_z 0.5 in version 3": _with_record(Header(version=3), value_z=0.5),
        "NaN value_z": _with_record(value_z=math.nan),
        "NaN value_q": _with_record(value_q=math.nan),
        "infinite value_q": _with_record(value_q=math.inf),
        "value_q just above 1": _with_record(value_q=struct.unpack("<f", b"\x01\x00\x80\x3f")[0]),
        "mv with bit 15": _with_candidates(scores, {}, {"mv": usi_to_move16("7g7f") | 0x8000}),
        "mv with origin 88": _with_candidates(scores, {"mv": 40 | 88 << 7}),
        "mv to square 81": _with_candidates(scores, {"mv": 81 | 40 << 7}),
        "mv promoting a drop": _with_candidates(scores, {}, {}, {"mv": usi_to_move16("P*5e") | 0x4000}),
    }
