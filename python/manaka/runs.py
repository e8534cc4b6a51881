"""The long runs of the ``manaka`` command as functions.

Each takes the options of its verb under the same names and returns what the verb prints with ``--format json`` (``card``
its text); what an option means stands in ``manaka <verb> --help``. ``None`` stands for the default that the help names. Paths are files,
directories and globs.

``progress(phase, done, total)`` is called from the calling thread, about twenty times a second at most and at least
once for each phase; ``total`` is None where it cannot be known. The GIL is free meanwhile. Ctrl-C, or an exception of
``progress``, stops the run at the next place where it can stop cleanly, and is raised here.
"""

from collections.abc import Callable, Iterable
from typing import Any

from manaka import _manaka
from manaka.reports import CheckReport, CorpusReport, PackReport, StatReport, TeacherReport
from manaka.stream import StrPath, path_list

__all__ = ["card", "check", "corpus", "info", "pack", "stat", "teacher"]

Paths = StrPath | Iterable[StrPath]
Progress = Callable[[str, int, int | None], object]


def check(
    paths: Paths, *, limit: int = 20, threads: int | None = None, progress: Progress | None = None
) -> CheckReport:
    """Checks streams and shards: every rule, every position, every candidate, the shuffle.

    Whatever is wrong with a file's content is a finding of the report, not an exception. ``limit`` findings are listed
    one by one; all are counted.
    """
    report: CheckReport = _manaka.check(path_list(paths), limit, threads, progress)
    return report


def stat(
    paths: Paths,
    *,
    html: StrPath | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> StatReport:
    """Measures streams, shards, corpora or raw PSV in one pass: games, outcomes, candidates, scores, calibration, board.

    Files of one kind are one set in the order given. What is probably wrong is listed under ``alarms``, each with its
    threshold; ``ok`` when there is none. ``html`` is a page with plots to be written besides. Raises
    :class:`manaka.FormatError` for a malformed file and :class:`manaka.UsageError` for files of different kinds.
    """
    report: StatReport = _manaka.stat(path_list(paths), html, threads, progress)
    return report


def card(
    paths: Paths,
    *,
    out: StrPath | None = None,
    force: bool = False,
    name: str | None = None,
    license: str | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> str:
    """The card a dataset is published with, as Markdown; every number of it is measured.

    ``name`` and ``license`` are told, and blanks that say so otherwise. ``out`` is a file to write it to: one that is no
    card, or that was changed by hand, is replaced with ``force`` alone and raises :class:`manaka.UsageError` else. Files are
    called by their paths from its directory. Raises as :func:`stat` does, and :class:`manaka.FormatError` for a
    malformed ``gensfen.json``, ``selfplay.json`` or ``LINEAGE.json`` beside the data.
    """
    options = {"out": out, "force": force, "name": name, "license": license, "threads": threads}
    return _manaka.card(path_list(paths), options, progress)


def info(paths: Paths) -> list[dict[str, Any]]:
    """What streams, shards, corpora and raw PSV state about themselves, one object a file."""
    infos: list[dict[str, Any]] = _manaka.info(path_list(paths))
    return infos


def pack(
    streams: Paths,
    out: StrPath,
    *,
    prefix: str = "teacher",
    rows_per_shard: int | None = None,
    softmax_temp_cp: float | None = None,
    exclude: Paths = (),
    threads: int | None = None,
    memory: int | None = None,
    tmp_dir: StrPath | None = None,
    buckets: int | None = None,
    checkpoint: float | None = None,
    resume: bool = False,
    force: bool = False,
    progress: Progress | None = None,
) -> PackReport:
    """Folds streams into shuffled Parquet shards in the directory ``out``, which must be empty or missing.

    ``memory`` is in bytes, ``checkpoint`` in seconds. A run that was interrupted leaves its temporary files: the same
    call with ``resume=True`` goes on from there. Raises :class:`manaka.ConventionMismatch` for streams that may not be
    folded together, :class:`manaka.FormatError` for a malformed one, :class:`manaka.UsageError` for options and
    directories that do not fit. Records that were refused are counted in the report.
    """
    options = {
        "prefix": prefix,
        "rows_per_shard": rows_per_shard,
        "softmax_temp_cp": softmax_temp_cp,
        "exclude": path_list(exclude),
        "threads": threads,
        "memory": memory,
        "tmp_dir": tmp_dir,
        "buckets": buckets,
        "checkpoint": checkpoint,
        "resume": resume,
        "force": force,
    }
    report: PackReport = _manaka.pack(path_list(streams), out, options, progress)
    return report


def teacher(
    corpus: Paths,
    out: StrPath,
    *,
    mate_scale: int | None = None,
    mate_slack: int = 0,
    fv_scale: int = 0,
    eval_coef: float | None = None,
    strict: bool = True,
    keep_off_search: bool = False,
    records_per_part: int | None = None,
    compress: bool = True,
    level: int = 1,
    rejects: StrPath | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> TeacherReport:
    """Converts corpus parquet into the parts of a stream in the directory ``out``, which must be empty or missing.

    The conventions cannot be read off the data: state what the generator did. Refused rows are counted in the report,
    and listed in the file ``rejects``. A ``beyond_mate_scale`` above 0 says that ``mate_scale`` is wrong. With
    ``keep_off_search`` a row whose played move is not among the candidates is kept without an outcome instead of being
    refused; ``off_search`` of the report counts these.
    """
    options = {
        "mate_scale": mate_scale,
        "mate_slack": mate_slack,
        "fv_scale": fv_scale,
        "eval_coef": eval_coef,
        "strict": strict,
        "keep_off_search": keep_off_search,
        "records_per_part": records_per_part,
        "level": level if compress else None,
        "rejects": rejects,
        "threads": threads,
    }
    report: TeacherReport = _manaka.teacher(path_list(corpus), out, options, progress)
    return report


def corpus(
    raw: Paths,
    out: StrPath,
    *,
    move16: str | None = None,
    candidates: int | None = None,
    layout: str | None = None,
    mate_scale: int | None = None,
    mate_slack: int = 0,
    engine_mate_scale: int | None = None,
    engine_mate_slack: int | None = None,
    rows_per_file: int | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> CorpusReport:
    """Converts raw PSV records into corpus parquet in the directory ``out``, which must be empty or missing.

    The length of a record and the layout of its moves are found out in a sample unless told.
    """
    options = {
        "move16": move16,
        "candidates": candidates,
        "layout": layout,
        "mate_scale": mate_scale,
        "mate_slack": mate_slack,
        "engine_mate_scale": engine_mate_scale,
        "engine_mate_slack": engine_mate_slack,
        "rows_per_file": rows_per_file,
        "threads": threads,
    }
    report: CorpusReport = _manaka.corpus(path_list(raw), out, options, progress)
    return report
