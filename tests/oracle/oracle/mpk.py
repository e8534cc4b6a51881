"""The MPK1 stream: header, records, a strict reader and a writer that can also lie (docs/spec/stream.md)."""

import io
import math
import struct
from dataclasses import dataclass
from typing import NamedTuple

import zstandard

MAGIC = b"MPK1"
PACKED_LEN = 96
NO_CP = -32768
NO_VISITS = 0
NO_OUTCOME = 2.0  # version 3 only
POV_SIDE_TO_MOVE, POV_BLACK = 0, 1
SOURCE_VISITS, SOURCE_SCORES = 0, 1

# stream.md, header: the two u16 before eval_coef are fv_scale, then mate_slack (reserved and zero in version 1).
HEADER = struct.Struct("<4sHHBBHHHfI")
FIXED = struct.Struct("<HffH")
CANDIDATE = struct.Struct("<HIh")
assert (HEADER.size, FIXED.size, CANDIDATE.size) == (24, 12, 8)


@dataclass(frozen=True)
class Header:
    """The 24 bytes that open a stream; every field may be set wrong on purpose."""

    version: int = 2
    packed_len: int = PACKED_LEN
    pov: int = POV_SIDE_TO_MOVE
    policy_source: int = SOURCE_SCORES
    mate_scale: int = 30000
    fv_scale: int = 0
    mate_slack: int = 0
    eval_coef: float = 1512.173
    flags: int = 0
    magic: bytes = MAGIC

    def pack(self) -> bytes:
        return HEADER.pack(
            self.magic, self.version, self.packed_len, self.pov, self.policy_source,
            self.mate_scale, self.fv_scale, self.mate_slack, self.eval_coef, self.flags,
        )  # fmt: skip

    @classmethod
    def unpack(cls, blob: bytes) -> "Header":
        magic, *rest = HEADER.unpack_from(blob)
        return cls(*rest, magic=magic)

    def effective_slack(self) -> int:
        """0 with no mate scale; 320 where the stream states none, as version 1 never does (conventions.md)."""
        if self.mate_scale == 0:
            return 0
        stated = self.mate_slack if self.version >= 2 else 0
        return stated or 320

    def is_mate(self, cp: int) -> bool:
        return self.mate_scale != 0 and abs(cp) >= self.mate_scale - self.effective_slack()


class Candidate(NamedTuple):
    mv: int
    visits: int
    cp: int


class Record(NamedTuple):
    ply: int
    value_z: float
    value_q: float
    packed: bytes
    candidates: tuple[Candidate, ...]


class StreamFault(Exception):
    """What is wrong, with the record's number (from 0) and the byte offset where that record begins."""

    def __init__(self, kind: str, record: int | None, offset: int):
        super().__init__(f"{kind} (record {record}, byte {offset})")
        self.kind, self.record, self.offset = kind, record, offset


def pack_record(record: Record, n_cand: int | None = None) -> bytes:
    """One record's bytes; `n_cand` writes another count than the list has."""
    count = len(record.candidates) if n_cand is None else n_cand
    head = FIXED.pack(record.ply, record.value_z, record.value_q, count)
    return head + record.packed + b"".join(CANDIDATE.pack(*c) for c in record.candidates)


def stream_bytes(header: Header, records) -> bytes:
    return header.pack() + b"".join(pack_record(r) for r in records)


def write_stream(path, header: Header, records, frames: int = 1) -> None:
    """Write `.mpk`, or `.mpk.zst` cut into `frames` zstd frames at arbitrary bytes."""
    blob = stream_bytes(header, records)
    if str(path).endswith(".zst"):
        step = max(1, -(-len(blob) // frames))
        compressor = zstandard.ZstdCompressor(level=1)
        blob = b"".join(compressor.compress(blob[i : i + step]) for i in range(0, len(blob), step))
    with open(path, "wb") as out:
        out.write(blob)


def stream_payload(path) -> bytes:
    """The plain bytes of `.mpk` or `.mpk.zst`, through every frame of the latter."""
    with open(path, "rb") as source:
        blob = source.read()
    if not str(path).endswith(".zst"):
        return blob
    return zstandard.ZstdDecompressor().stream_reader(io.BytesIO(blob), read_across_frames=True).read()


def check_header(blob: bytes) -> Header:
    """stream.md, header: versions 1 to 3, 96 bytes a position, known enum values, no unknown flag."""
    if len(blob) < HEADER.size:
        raise StreamFault("truncated header", None, len(blob))
    header = Header.unpack(blob)
    rules = [
        ("magic", header.magic == MAGIC),
        ("version", header.version in (1, 2, 3)),
        ("packed_len", header.packed_len == PACKED_LEN),
        ("pov", header.pov in (POV_SIDE_TO_MOVE, POV_BLACK)),
        ("policy_source", header.policy_source in (SOURCE_VISITS, SOURCE_SCORES)),
        ("flags", header.flags == 0),
    ]
    for kind, holds in rules:
        if not holds:
            raise StreamFault(kind, None, 0)
    return header


def is_move16(mv: int) -> bool:
    """stream.md, move16: bit 15 clear, a target on the board, an origin up to 87, no promoting drop."""
    to, origin, promotes = mv & 0x7F, mv >> 7 & 0x7F, bool(mv & 0x4000)
    return not mv & 0x8000 and to <= 80 and origin <= 87 and not (origin >= 81 and promotes)


def record_fault(header: Header, record: Record) -> str | None:
    """The first rule of stream.md's validation that the record breaks, by name."""
    candidates = record.candidates
    if not candidates:
        return "no candidates"
    outcomes = (-1.0, 0.0, 1.0, NO_OUTCOME) if header.version == 3 else (-1.0, 0.0, 1.0)
    if record.value_z not in outcomes:
        return "value_z"
    if not math.isfinite(record.value_q) or not -1.0 <= record.value_q <= 1.0:
        return "value_q"
    if not all(is_move16(c.mv) for c in candidates):
        return "mv"
    visited = sum(c.visits != NO_VISITS for c in candidates)
    scored = sum(c.cp != NO_CP for c in candidates)
    if visited not in (0, len(candidates)):
        return "visits on some candidates only"
    if scored not in (0, len(candidates)):
        return "cp on some candidates only"
    if not (visited if header.policy_source == SOURCE_VISITS else scored):
        return "the half named by policy_source is absent"
    return None


def parse_stream(blob: bytes) -> tuple[Header, list[Record]]:
    """Read every record of a plain stream, or raise StreamFault at the first fault."""
    header = check_header(blob)
    records, at = [], HEADER.size
    while at < len(blob):
        number = len(records)
        body = at + FIXED.size
        if body > len(blob):
            raise StreamFault("truncated record", number, at)
        ply, value_z, value_q, n_cand = FIXED.unpack_from(blob, at)
        end = body + PACKED_LEN + CANDIDATE.size * n_cand
        if end > len(blob):
            raise StreamFault("truncated record", number, at)
        packed = blob[body : body + PACKED_LEN]
        listed = CANDIDATE.iter_unpack(blob[body + PACKED_LEN : end])
        record = Record(ply, value_z, value_q, packed, tuple(Candidate(*c) for c in listed))
        fault = record_fault(header, record)
        if fault:
            raise StreamFault(fault, number, at)
        records.append(record)
        at = end
    return header, records


def read_stream(path) -> tuple[Header, list[Record]]:
    return parse_stream(stream_payload(path))


def seed_reader(path):
    """The short reader that published datasets print for strangers: no checks, no library, scores only.

    A stream that this loop cannot walk is a broken stream, whatever the other readers make of it.
    """
    fixed, cand = 12, 8
    with open(path, "rb") as f:
        head = f.read(24)
        assert head[:4] == b"MPK1"
        packed_len = struct.unpack_from("<H", head, 6)[0]
        blob = f.read()
    i = 0
    while i < len(blob):
        ply, value_z, value_q, n = struct.unpack_from("<HffH", blob, i)
        packed = blob[i + fixed : i + fixed + packed_len]
        base = i + fixed + packed_len
        cands = [struct.unpack_from("<HIh", blob, base + cand * k)[0:3:2] for k in range(n)]
        yield ply, value_z, value_q, packed, cands
        i = base + cand * n
