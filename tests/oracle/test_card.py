"""The figures on a card against those measured here: shards through pyarrow, streams through the oracle's own reader."""

import itertools
import math
import re
from collections import Counter

import pyarrow.parquet as pq
import pytest
import xxhash
import yaml

from oracle import mpk
from oracle.cli import COULD_NOT, DONE


def card(manaka, *arguments, expect=DONE):
    return manaka("card", *arguments, expect=expect).stdout


def front(text):
    assert text.startswith("---\n")
    return yaml.safe_load(text[4 : text.index("\n---\n")])


def tables(text):
    """Every table: the heading above it, and its rows as lists of cells. Each row has as many as the head."""
    found, heading = [], ""
    prose = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    for is_row, lines in itertools.groupby(prose.splitlines(), key=lambda line: line.startswith("|")):
        lines = list(lines)
        if not is_row:
            heading = next((line.lstrip("# ") for line in reversed(lines) if line.startswith("#")), heading)
            continue
        rows = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
        assert set(rows[1]) <= {"---", "---:"}
        assert all(len(row) == len(rows[0]) for row in rows), lines
        found.append((heading, rows[0], rows[2:]))
    return found


def table(text, heading, head=None):
    for above, first, rows in tables(text):
        if above == heading and (head is None or first[0] == head):
            return rows
    raise AssertionError(f"no table {heading} {head}")


def value(text, heading, name):
    return next(row[1] for row in table(text, heading) if row[0] == name)


def number(text):
    text = text.split(" (")[0].replace(",", "").replace("−", "-").replace("±", "").rstrip("%")
    return float(text) if "." in text else int(text)


def shares(text):
    return float(re.search(r"\(([\d.]+)%\)", text)[1])


def percentile(numbers, percent):
    numbers = sorted(numbers)
    return numbers[max(math.ceil(len(numbers) * percent / 100), 1) - 1]


def test_the_card_of_shards_has_what_pyarrow_finds_in_them(manaka, fairy_shards):
    text = card(manaka, fairy_shards)
    [path] = sorted(fairy_shards.glob("*.parquet"))
    file = pq.ParquetFile(path)
    rows = file.read().to_pylist()
    records = sum(row["weight"] for row in rows)
    assert f"**{len(rows):,} rows** in 1 Parquet shard ({path.stat().st_size:,} bytes" in text
    assert f"{records:,} records were folded into these rows" in text

    [entry] = table(text, "Files")
    digest = xxhash.xxh3_128_hexdigest(path.read_bytes())
    assert entry[0] == f"`{path.name}`" and number(entry[2]) == path.stat().st_size and entry[4] == f"`{digest}`"
    footer = {key.decode(): value.decode() for key, value in file.metadata.metadata.items()}
    stated = {row[0].strip("`"): row[1].strip("`") for row in table(text, "Conventions")}
    assert {key: value for key, value in footer.items() if key != "ARROW:schema"} == stated

    [spread] = table(text, "Plies", "spread")
    plies = [row["ply"] for row in rows]
    assert number(spread[1]) == pytest.approx(sum(plies) / len(rows), abs=0.005)
    assert [number(cell) for cell in spread[2:]] == [
        min(plies), *(percentile(plies, p) for p in (1, 5, 25, 50, 75, 95, 99)), max(plies),
    ]
    steps = Counter(ply // 20 * 20 for ply in plies)
    assert {int(row[0].split("–")[0]): number(row[1]) for row in table(text, "Plies", "ply")} == steps

    widths = [len(row["candidates"]) for row in rows]
    assert number(value(text, "Candidates", "candidates")) == sum(widths)
    assert number(value(text, "Candidates", "a single one")) == widths.count(1)
    assert shares(value(text, "Candidates", "cut by a width of 5")) == pytest.approx(
        100 * sum(width > 5 for width in widths) / len(rows), abs=0.005
    )
    scores = [candidate["cp"] for row in rows for candidate in row["candidates"]]
    assert number(value(text, "Scores", "the least")) == min(scores)
    assert number(value(text, "Scores", "the greatest")) == max(scores)
    threshold = int(stated["mate_scale"]) - int(stated["mate_slack"])
    assert number(value(text, "Scores", "mates as stated")) == sum(abs(cp) >= threshold for cp in scores)
    counts = table(text, "Scores", "cp")
    assert sum(number(row[1]) for row in counts) == len(scores)
    middle = {row[0]: number(row[1]) for row in counts}
    assert middle["0 to 199"] == sum(0 <= cp < 200 for cp in scores)
    assert middle["−1,000 to −501"] == sum(-1000 <= cp < -500 for cp in scores)

    kings = Counter(row["packed"].index(0) % 9 for row in rows)
    ranks = next(row for row in table(text, "Board", "share on rank") if row[0] == "Black's king")
    assert [float(cell.rstrip("%")) for cell in ranks[1:]] == pytest.approx(
        [100 * kings[rank] / len(rows) for rank in range(9)], abs=0.005
    )
    [weight] = table(text, "Weights")
    assert number(weight[1]) == pytest.approx(records / len(rows), abs=0.00005)
    assert number(weight[-1]) == max(row["weight"] for row in rows)

    sizes = Counter()
    for group in range(file.metadata.num_row_groups):
        for at in range(file.metadata.num_columns):
            column = file.metadata.row_group(group).column(at)
            sizes[column.path_in_schema] += column.total_compressed_size
    found = {row[0].strip("`"): row for row in table(text, "Bytes a row")}
    assert {name: number(found[name][1]) for name in sizes} == sizes
    assert number(found["packed"][2]) == pytest.approx(sizes["packed"] / len(rows), abs=0.0005)

    [order] = table(text, "Row order", "shard")
    mean = sum(plies) / len(plies)
    squares = sum((ply - mean) ** 2 for ply in plies)
    lag = sum((a - mean) * (b - mean) for a, b in zip(plies, plies[1:])) / squares
    assert number(order[2]) == pytest.approx(mean, abs=0.0005)
    assert number(order[4].lstrip("+")) == pytest.approx(lag, abs=1e-6)


def test_the_card_of_a_stream_has_what_the_oracle_reads_in_it(manaka, fairy_parts):
    text = card(manaka, *fairy_parts)
    header, records = mpk.read_stream(fairy_parts[0])
    games = 1 + sum(b.ply <= a.ply for a, b in itertools.pairwise(records))
    assert number(value(text, "Games", "games")) == games
    follow = len(records) - games
    assert number(value(text, "Games", "records that follow one of their game")) == follow
    opens = Counter(b.ply for a, b in itertools.pairwise(records) if b.ply <= a.ply) + Counter([records[0].ply])
    first = table(text, "Games", "games open at ply")[0]
    assert opens[number(first[0])] == number(first[1]) == max(opens.values())
    mover = next(row for row in table(text, "Outcomes") if row[0] == "the side to move")
    outcome = Counter(record.value_z for record in records)
    assert [number(cell) for cell in mover[1:]] == [len(records), outcome[1.0], outcome[0.0], outcome[-1.0]]
    top = next(row for row in table(text, "Values and outcomes", "root value") if row[0] == "+0.9 to +1.0")
    inside = [record for record in records if record.value_q >= 0.9]
    assert number(top[1]) == pytest.approx(len(inside), abs=2)
    assert number(top[4].lstrip("+")) == pytest.approx(sum(r.value_z for r in inside) / len(inside), abs=0.002)
    assert mpk.stream_bytes(header, [])[:24].hex(" ") in text
    different = len({record.packed for record in records})
    assert value(text, "Duplicates", "different positions") == f"{different:,} of {len(records):,}"


def test_the_front_matter_is_yaml_that_hubs_take(manaka, fairy_shards, fairy_parts, tmp_path):
    name = 'it\'s: "a" #1 [x] {y} & *z | \\ 将棋'
    matter = front(card(manaka, fairy_shards, "--name", name, "--license", "cc0-1.0"))
    assert matter["pretty_name"] == name and matter["license"] == "cc0-1.0"
    assert matter["size_categories"] == ["10K<n<100K"] and "shogi" in matter["tags"]
    [config] = matter["configs"]
    [split] = config["data_files"]
    assert split["split"] == "train" and list(fairy_shards.glob(split["path"]))
    matter = front(card(manaka, *fairy_parts))
    assert matter["viewer"] is False and "license" not in matter and "configs" not in matter


def test_two_kinds_of_data_make_one_card_that_is_the_same_on_any_number_of_threads(manaka, fairy_shards, fairy_parts):
    both = [fairy_shards, *fairy_parts]
    text = card(manaka, *both, "--threads", 1)
    assert text == card(manaka, *both, "--threads", 2) == card(manaka, *both)
    assert "\n## Shards\n" in text and "\n## Streams\n" in text and tables(text)
    files = {row[0].strip("`"): row[1] for row in table(text, "Files")}
    assert sorted(files.values()) == ["MPK1 stream", "Parquet shard"]
    assert str(fairy_shards) not in text


def test_garbage_has_no_card(manaka, tmp_path):
    for name, content in [("a.parquet", b"PAR1PAR1"), ("b.mpk", b"MPK1"), ("c.mpk.zst", b"\x28\xb5\x2f\xfd"), ("d.psv", b"x" * 99)]:
        path = tmp_path / name
        path.write_bytes(content)
        run = manaka("card", path, "--out", tmp_path / "README.md", expect=COULD_NOT)
        assert run.stdout == "" and name in run.stderr
    assert not (tmp_path / "README.md").exists()
