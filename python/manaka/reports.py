"""What the long runs return: the objects that the command prints with ``--format json``."""

from typing import Any, NotRequired, TypedDict

__all__ = [
    "Alarm",
    "CheckReport",
    "CorpusReport",
    "Finding",
    "KindCount",
    "PackReport",
    "StatReport",
    "TeacherReport",
    "Totals",
]


class Finding(TypedDict):
    """Something found, with its place."""

    id: str
    severity: str
    path: str | None
    record: NotRequired[int]
    row: NotRequired[int]
    offset: NotRequired[int]
    message: str


class KindCount(TypedDict):
    """How often one kind of thing was found."""

    id: str
    severity: str
    count: int
    sentence: str
    first: Finding


class Totals(TypedDict):
    """What was looked at."""

    streams: int
    shards: int
    records: int
    rows: int
    bytes: int


class CheckReport(TypedDict):
    """What :func:`manaka.check` found; ``ok`` when there is neither an error nor a warning."""

    ok: bool
    totals: Totals
    kinds: list[KindCount]
    findings: list[Finding]
    notes: list[Finding]
    shuffle: list[dict[str, Any]]


class Alarm(TypedDict):
    """What is probably wrong with a set of data, and when it is said."""

    id: str
    sentence: str
    message: str
    threshold: str


class StatReport(TypedDict):
    """What :func:`manaka.stat` measured; ``ok`` when no alarm went off. None where the data has no such thing."""

    ok: bool
    kind: str
    stated: dict[str, Any] | None
    totals: dict[str, Any]
    parts: list[dict[str, Any]]
    refused: dict[str, int]
    games: dict[str, Any] | None
    ply: dict[str, Any]
    plies: list[dict[str, Any]]
    outcomes: dict[str, Any] | None
    candidates: dict[str, Any] | None
    visits: dict[str, Any] | None
    scores: dict[str, Any] | None
    values: dict[str, Any]
    board: dict[str, Any]
    duplicates: dict[str, Any]
    weights: dict[str, Any] | None
    columns: list[dict[str, Any]]
    shuffle: list[dict[str, Any]]
    alarms: list[Alarm]


class Refused(TypedDict):
    """A record that was not taken."""

    path: str
    record: int
    offset: int
    reason: str
    detail: str


class File(TypedDict):
    """A file that was written."""

    path: str
    rows: int
    bytes: int


class PackReport(TypedDict):
    """What :func:`manaka.pack` did. ``refused`` counts by reason; the first ones are listed."""

    records: int
    rows: int
    folded_away: int
    largest_weight: int
    rows_without_outcome: int
    excluded_positions: int
    excluded_records: int
    in_memory: bool
    seconds: dict[str, float]
    peak_memory: int | None
    refused: dict[str, int]
    refused_first: list[Refused]
    footer: dict[str, str]
    column_bytes: dict[str, int]
    shards: list[File]


class Conventions(TypedDict):
    """The conventions that were stated."""

    pov: str
    policy_source: str
    mate_scale: int
    mate_slack: int
    fv_scale: int
    eval_coef: float


class TeacherReport(TypedDict):
    """What :func:`manaka.teacher` did."""

    rows: int
    written: int
    off_search: int
    rejected: int
    rejected_by_reason: dict[str, int]
    mates: int
    beyond_mate_scale: int
    conventions: Conventions
    parts: list[str]
    bytes: int


class TornTail(TypedDict):
    """A file that ends inside a record."""

    path: str
    record: int
    offset: int
    bytes: int


class CorpusReport(TypedDict):
    """What :func:`manaka.corpus` did."""

    records: int
    rows: int
    games: int
    unlisted: int
    refused: dict[str, int]
    refused_first: list[Refused]
    truncated: list[TornTail]
    move16: str
    candidates: int
    record_len: int
    mates_folded: int
    scores_clamped: int
    files: list[File]
