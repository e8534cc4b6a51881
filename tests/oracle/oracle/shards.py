"""Shards as three strangers read them, and what a shard must declare (docs/spec/shards.md)."""

import struct

import duckdb
import polars
import pyarrow as pa
import pyarrow.parquet as pq

from .fold import Row, RowCandidate
from .mpk import SOURCE_VISITS, Header

ROW_GROUP = 8192
TOLERANCE = 1e-6


def expected_columns(header: Header) -> list[tuple[str, pa.DataType]]:
    candidate = pa.struct([("mv", pa.uint16()), ("prob", pa.float32()), ("cp", pa.int16())])
    columns = [("packed", pa.binary(96)), ("ply", pa.uint16())]
    if header.policy_source == SOURCE_VISITS:
        columns.append(("value_z", pa.float32()))
    return columns + [("value_q", pa.float32()), ("weight", pa.uint32()), ("candidates", pa.list_(candidate))]


def shape_of(kind: pa.DataType) -> str:
    """A type without the names and nullability that Arrow hangs on its children."""
    if pa.types.is_list(kind):
        return f"list<{shape_of(kind.value_type)}>"
    if pa.types.is_struct(kind):
        fields = [kind.field(n) for n in range(kind.num_fields)]
        return f"struct<{', '.join(f'{field.name} {shape_of(field.type)}' for field in fields)}>"
    return str(kind)


def shard_files(directory) -> list:
    return sorted(directory.glob("*.parquet"))


def read_footer(path) -> dict[str, str]:
    """Every key but Arrow's own copy of the schema."""
    pairs = pq.ParquetFile(path).metadata.metadata or {}
    return {key.decode(): value.decode() for key, value in pairs.items() if key != b"ARROW:schema"}


def with_pyarrow(path) -> list[dict]:
    return pq.read_table(path).to_pylist()


def with_duckdb(path) -> list[dict]:
    with duckdb.connect() as connection:
        found = connection.execute("SELECT * FROM read_parquet(?)", [str(path)])
        names = [column[0] for column in found.description]
        return [dict(zip(names, values)) for values in found.fetchall()]


def with_polars(path) -> list[dict]:
    return polars.read_parquet(path).to_dicts()


def to_rows(table: list[dict]) -> list[Row]:
    return [
        Row(
            packed=bytes(line["packed"]),
            ply=line["ply"],
            value_z=line.get("value_z"),
            value_q=line["value_q"],
            weight=line["weight"],
            candidates=tuple(RowCandidate(c["mv"], c["prob"], c["cp"]) for c in line["candidates"]),
        )
        for line in table
    ]


def read_rows(directory) -> list[Row]:
    """The rows of every shard, in the order of the shards' names."""
    return [row for path in shard_files(directory) for row in to_rows(with_pyarrow(path))]


def differences(got: Row, want: Row) -> list[str]:
    """What is unequal: all of it exactly, `prob` and `value_q` within TOLERANCE."""
    found = [name for name in ("packed", "ply", "weight") if getattr(got, name) != getattr(want, name)]
    if bits(got.value_z) != bits(want.value_z):
        found.append("value_z")
    if not abs(got.value_q - want.value_q) <= TOLERANCE:
        found.append("value_q")
    if [(c.mv, c.cp) for c in got.candidates] != [(c.mv, c.cp) for c in want.candidates]:
        found.append("candidates")
    elif not all(abs(a.prob - b.prob) <= TOLERANCE for a, b in zip(got.candidates, want.candidates)):
        found.append("prob")
    return found


def bits(value: float | None) -> bytes | None:
    """An f32's bytes, so that -0.0 is not 0.0."""
    return None if value is None else struct.pack("<f", value)
