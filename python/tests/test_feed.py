"""A program reads a feed: as one of a job on this machine."""

from __future__ import annotations

import collections
import gzip
import json
import re
import sys
import textwrap
from pathlib import Path
from typing import Any, Callable, Dict, NamedTuple

import pytest
from conftest import ROOT, alone

import tony_ts

SOURCE = str(ROOT / "python" / "src")
MIB = 1 << 20


def said(program: str, conf: dict[str, str], *, instances: int = 1, more: dict[str, str] | None = None) -> list[str]:
    """What the tasks of a job with such a feed print, and with more settings."""
    return lines_of(ended(program, conf, instances=instances, more=more))


def lines_of(job: tony_ts.Job) -> list[str]:
    return sorted(line.line for line in job.logs("worker"))


def ended(program: str, conf: dict[str, str], *, instances: int = 1, more: dict[str, str] | None = None) -> tony_ts.Job:
    Path("program.py").write_text("import tony_ts\n" + textwrap.dedent(program))
    job = tony_ts.submit(
        f"{sys.executable} -W error program.py",
        scheduler="local",
        instances=instances,
        memory="256m",
        files=["program.py"],
        env={"PYTHONPATH": SOURCE},
        conf={**{f"tony.feed.train.{key}": value for key, value in conf.items()}, **(more or {})},
    )
    job.wait()
    return job


#: Of a feed, where its input is made: in a folder of its own.
Conf = Callable[[Path], Dict[str, str]]


class Reader(NamedTuple):
    """A program that reads a feed of its own, ``NAME``."""

    name: str
    program: str
    conf: Conf


class Readers:
    """A job takes longer than its programs: one runs all of these, one after the other."""

    def __init__(self, instances: int) -> None:
        self.instances = instances
        self.readers: list[Reader] = []

    def reader(self, program: str, conf: Conf) -> Reader:
        name = f"feed{len(self.readers)}"
        self.readers.append(Reader(name, f"import tony_ts\nNAME = {name!r}\n{textwrap.dedent(program)}", conf))
        return self.readers[-1]


class Ran:
    """What became of them."""

    def __init__(self, readers: Readers, folder: Path, more: dict[str, str]) -> None:
        self._folder = folder
        conf = dict(more)
        for reader in readers.readers:
            self.folder(reader).mkdir()
            conf.update({f"tony.feed.{reader.name}.{k}": v for k, v in reader.conf(self.folder(reader)).items()})
        program = f"""
        import subprocess, sys
        for name, text in {[(reader.name, reader.program) for reader in readers.readers]!r}:
            ran = subprocess.run([sys.executable, "-W", "error", "-c", text], stdout=subprocess.PIPE, text=True)
            for line in ran.stdout.splitlines():
                print(name, line)
            if ran.returncode != 0:
                sys.exit(ran.returncode)
        """
        job = ended(program, {}, instances=readers.instances, more=conf)
        self._lines = lines_of(job)
        self._feeds = {feed["name"]: feed for feed in job.report["feeds"]}

    def folder(self, reader: Reader) -> Path:
        return self._folder / reader.name

    def said(self, reader: Reader) -> list[str]:
        return [line[len(reader.name) + 1 :] for line in self._lines if line.startswith(f"{reader.name} ")]

    def feed(self, reader: Reader) -> Any:
        """As the job's report has it."""
        return self._feeds[reader.name]


ONE, TWO = Readers(1), Readers(2)


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    return ran(ONE, tmp_path_factory.mktemp("one"))


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    return ran(TWO, tmp_path_factory.mktemp("two"))


def ran(readers: Readers, folder: Path, more: dict[str, str] | None = None) -> Ran:
    with pytest.MonkeyPatch.context() as patch:
        alone(patch, folder)
        return Ran(readers, folder, more or {})


def numbers(folder: Path, count: int) -> str:
    """The input of two files with those numbers, a line each, of which every split has some."""
    folder.mkdir(exist_ok=True)
    lines = [f"{number:08d}\n" for number in range(count)]
    (folder / "a.txt").write_text("".join(lines[: count // 2]))
    (folder / "b.txt.gz").write_bytes(gzip.compress("".join(lines[count // 2 :]).encode()))
    return str(folder)


ROWS = 400_000
EACH_ROW = TWO.reader(
    """
    largest, total = 0, 0
    for batch in tony_ts.feed(NAME).batches(1000):
        largest = max(largest, len(batch))
        total += sum(map(int, batch))
    print(largest, total)
    """,
    lambda folder: {"input": numbers(folder, ROWS), "split-size": "1m", "shuffle": "7", "epochs": "2"},
)


def test_its_tasks_have_each_row_once(two: Ran) -> None:
    said = [line.split() for line in two.said(EACH_ROW)]
    # One that starts late may find everything read.
    assert max(int(largest) for largest, _ in said) == 1000
    assert sum(int(total) for _, total in said) == ROWS * (ROWS - 1)


BREAKS_OFF = ONE.reader(
    """
    feed = tony_ts.feed(NAME)
    rows = []
    for row in feed.rows():
        rows.append(int(row))
        if len(rows) == 10:
            break
    for batch in tony_ts.feed(NAME).batches(3):
        rows += map(int, batch)
        if len(rows) > 20:
            break
    rows += map(int, feed.rows())
    print(len(rows), rows == sorted(set(rows)))
    """,
    lambda folder: {"input": numbers(folder, 1000)},
)


def test_a_program_that_breaks_off_goes_on_where_it_was(one: Ran) -> None:
    # The row, or the batch, after which it broke off was not said to be used, and was: it does not come again.
    assert one.said(BREAKS_OFF) == ["1000 True"]


SPLITS_OF_A_STATE = ONE.reader(
    """
    feed = tony_ts.feed(NAME)
    [first] = [split for _, split in zip(range(1), feed.splits())]
    state = feed.state()
    print(first.path[-1], [split.path[-2:] for split in feed.splits()], state["partly"])
    """,
    lambda folder: {"input": numbers(folder, 1000)},
)


def test_a_state_says_which_splits_are_used_in_part(one: Ran) -> None:
    assert one.said(SPLITS_OF_A_STATE) == ["t ['gz'] {'0': 1}"]


def test_a_later_program_goes_on_where_a_checkpoint_says(tmp_path: Path) -> None:
    conf = {"input": numbers(tmp_path / "in", 1000)}
    program = """
    import json
    feed = tony_ts.feed("train")
    rows = [len(batch) for _, batch in zip(range(9), feed.batches(70))]
    print(json.dumps(feed.state()))
    """
    [state] = said(program, conf)
    program = f"""
    feed = tony_ts.feed("train", {state})
    print([int(row) for row in feed.rows()] == list(range(630, 1000)))
    try:
        tony_ts.feed("train", {state})
    except tony_ts.TonyError as error:
        print(error.code)
    """
    assert said(program, conf) == ["FEED_IS_OPEN", "True"]


def test_a_state_is_not_waited_for_where_another_task_has_nothing_to_use(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a").write_bytes(b"1\n2\n")
    program = """
    feed = tony_ts.feed("train")
    for _ in feed.rows():
        try:
            feed.state()
        except tony_ts.TaskError as error:
            print(error.code, str(error)[9:])
            break
    """
    [line] = said(program, {"input": str(tmp_path / "in")}, instances=2)
    assert line == (
        "FEED_INVALID waits for more of train and comes to no mark 1: "
        "a cursor is of tasks that make the same number of steps"
    )


def short(folder: Path) -> str:
    (folder / "a").write_bytes(b"aabbcc")
    (folder / "b").write_bytes(b"dd")
    return str(folder)


PRINTED = "print(tony_ts.feed(NAME).format, list(tony_ts.feed(NAME).rows()))"
FILES = ONE.reader(PRINTED, lambda folder: {"input": short(folder), "format": "file"})
FIXED = ONE.reader(PRINTED, lambda folder: {"input": short(folder), "format": "fixed", "record-size": "2"})
VIEWS = ONE.reader(
    """
    rows = list(tony_ts.feed(NAME, views=True).rows())
    print([type(row).__name__ for row in rows], b"".join(rows))
    """,
    lambda folder: {"input": short(folder), "format": "file"},
)
SPLITS = ONE.reader(
    """
    feed = tony_ts.feed(NAME)
    print([(split.path.rpartition("/")[2], split.start, split.end, split.epoch) for split in feed.splits()])
    """,
    lambda folder: {"input": short(folder), "format": "bytes"},
)


def test_rows_of_other_formats(one: Ran) -> None:
    assert one.said(FILES) == ["file [b'aabbcc', b'dd']"]
    assert one.said(FIXED) == ["fixed [b'aa', b'bb', b'cc', b'dd']"]
    assert one.said(VIEWS) == ["['memoryview', 'memoryview'] b'aabbccdd'"]
    assert one.said(SPLITS) == ["[('a', 0, 6, 0), ('b', 0, 2, 0)]"]


def damaged(folder: Path) -> str:
    (folder / "a.gz").write_bytes(gzip.compress(b"1\n2\n")[:20])
    (folder / "b").write_bytes(b"3\n")
    return str(folder)


DAMAGED = ONE.reader(
    'print([row for row in tony_ts.feed(NAME).rows() if row == b"3"])', lambda folder: {"input": damaged(folder)}
)


def test_what_cannot_be_read_is_left_out_and_told(one: Ran) -> None:
    assert one.said(DAMAGED) == ["[b'3']"]
    feed = one.feed(DAMAGED)
    [failure] = feed["failures"]
    assert (feed["leftOut"], feed["epoch"], failure["path"]) == (1, 1, f"file://{one.folder(DAMAGED)}/a.gz")
    assert "unexpected end of file" in failure["reason"]


LEAVES_EARLY = ONE.reader(
    """
    feed = tony_ts.feed(NAME)
    for batch in feed.batches(10_000):
        feed.write([str(len(batch))])
        if int(batch[-1]) > 140_000:
            break
    """,
    lambda folder: {
        "input": numbers(folder / "in", ROWS),
        "split-size": "1m",
        "output": str(folder / "out"),
        "window": "1",
    },
)


def test_a_program_that_leaves_early_leaves_splits_unread_and_no_success(one: Ran) -> None:
    feed, out = one.feed(LEAVES_EARLY), one.folder(LEAVES_EARLY) / "out"
    assert (feed["epoch"], feed["splits"], feed["used"], feed["output"]) == (0, 3, 1, str(out))
    assert [(reader["splits"], reader["rows"], reader["isDone"]) for reader in feed["readers"]] == [(1, 116_509, True)]
    assert sorted(path.name for path in out.iterdir()) == ["_manifest.json", "part-0000000"]
    parts = [split.get("part") for split in json.loads((out / "_manifest.json").read_text())["splits"]]
    assert parts == ["part-0000000", None, None]


NONE = ONE.reader(
    """
    try:
        tony_ts.feed("test")
    except tony_ts.TaskError as error:
        print(error.code, error)
    """,
    lambda folder: {"input": numbers(folder, 10)},
)


def test_a_job_without_such_a_feed_is_told(one: Ran) -> None:
    [told] = one.said(NONE)
    assert told.startswith("NO_SUCH_FEED the job has no feed test: there is feed0, feed1, ")


def test_what_the_guide_shows(tmp_path: Path) -> None:
    guide = (ROOT / "docs" / "guide" / "feeds.md").read_text(encoding="utf-8")
    program, results, exact = re.findall(r"^```python\n(.*?)^```", guide, re.DOTALL | re.MULTILINE)
    conf = {"input": numbers(tmp_path / "in", 200)}
    more = {"tony.feed.images.input": str(tmp_path / "in"), "tony.feed.images.output": str(tmp_path / "labels")}
    both = f"def train(batch): print(len(batch))\n{program}\ndef label(row): return str(int(row) + 1)\n{results}"
    assert said(both, conf, more=more) == ["128", "72"]
    parts = [part.read_text().split() for part in sorted((tmp_path / "labels").glob("part-*"))]
    assert [int(row) for part in parts for row in part] == list(range(1, 201))
    given = """
import os
def train(batch): pass
def save(what, path): print(what["feed"]["partly"])
rank, model, path = 0, None, "hdfs:///saved"
"""
    assert said(given + exact.replace("% 1000", "% 1"), conf) == ["{'0': 100, '1': 28}", "{'1': 100}"]


def test_elsewhere_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TONY_API", raising=False)
    with pytest.raises(tony_ts.NotInATask):
        tony_ts.feed("train")


RESULTS = TWO.reader(
    """
    feed = tony_ts.feed(NAME)
    for batch in feed.batches(40_000):
        feed.write(row.decode() for row in batch if row.endswith(b"0"))
        feed.write([b"end"])
    try:
        feed.write([b"late"])
    except tony_ts.TonyError as error:
        print(error.code)
    """,
    lambda folder: {
        "input": numbers(folder / "in", ROWS),
        "split-size": "1m",
        "shuffle": "7",
        "output": str(folder / "out"),
    },
)


def test_results_are_a_file_for_each_split_in_their_order(two: Ran) -> None:
    assert two.said(RESULTS) == ["NO_ROWS", "NO_ROWS"]
    out = two.folder(RESULTS) / "out"
    parts = sorted(out.glob("part-*"))
    assert [part.name for part in parts] == ["part-0000000", "part-0000001", "part-0000002"]
    rows = [row for part in parts for row in part.read_text().splitlines()]
    assert [row for row in rows if row != "end"] == [f"{number:08d}" for number in range(0, ROWS, 10)]
    # None of a batch of another split stands in between.
    assert [part.read_text().endswith("end\n") for part in parts] == [True, True, True]
    manifest = json.loads((out / "_manifest.json").read_text())
    assert [split["bytes"] for split in manifest["splits"]] == [part.stat().st_size for part in parts]
    assert sorted(path.name for path in out.glob("_*")) == ["_SUCCESS", "_manifest.json"]


def half(folder: Path) -> str:
    folder.mkdir()
    packed = gzip.compress("".join(f"{number * 7919 % 10_007}\n" for number in range(20_000)).encode())
    (folder / "a.gz").write_bytes(packed[: len(packed) // 2])
    (folder / "b").write_bytes(b"1\n2\n3\n")
    return str(folder)


HALF = ONE.reader(
    """
    feed = tony_ts.feed(NAME)
    for batch in feed.batches(7):
        feed.write(batch)
    print("all")
    """,
    lambda folder: {"input": half(folder / "in"), "output": str(folder / "out")},
)


def test_a_split_that_breaks_off_has_no_results(one: Ran) -> None:
    assert one.said(HALF) == ["all"]
    out = one.folder(HALF) / "out"
    assert {path.name: path.read_bytes() for path in out.glob("part-*")} == {"part-0000001": b"1\n2\n3\n"}
    assert not (out / "_SUCCESS").exists()


ONE_LOOP = ONE.reader(
    """
    import os
    feed = tony_ts.feed(NAME)
    first, second = feed.batches(2), feed.batches(2)
    print(next(first), next(second))
    try:
        next(first)
    except tony_ts.TonyError as error:
        print("again", error.code)
    child = os.fork()
    if child == 0:
        try:
            next(second)
        except tony_ts.TonyError as error:
            print("child", error.code, flush=True)
        os._exit(0)
    os.waitpid(child, 0)
    print("rest", sum(map(len, second)))
    try:
        feed.write("row")
    except TypeError as error:
        print("write", error)
    """,
    lambda folder: {"input": numbers(folder, 10)},
)


def test_one_loop_of_one_process_reads_it(one: Ran) -> None:
    assert one.said(ONE_LOOP) == [
        "[b'00000000', b'00000001'] [b'00000002', b'00000003']",
        "again FEED_READ_TWICE",
        "child FEED_OF_ANOTHER_PROCESS",
        "rest 6",
        "write write() takes a list of rows: write one as write([row])",
    ]


LENGTHS = [0, 1, 3 * MIB, 2, 30 * MIB]


def long_lines(folder: Path) -> str:
    (folder / "a").write_bytes(b"\n".join(b"x" * length for length in LENGTHS))
    return str(folder)


LONG = ONE.reader(
    "print([len(row) for row in tony_ts.feed(NAME).rows()])",
    lambda folder: {"input": long_lines(folder), "split-size": "64m"},
)


def test_lines_may_be_longer_than_what_is_read_at_a_time(one: Ran) -> None:
    assert one.said(LONG) == [str(LENGTHS)]


NO_PLACE = ONE.reader(
    """
    feed = tony_ts.feed(NAME)
    try:
        for row in feed.rows():
            feed.write([row])
    except tony_ts.TaskError as error:
        print(error.code, error)
    """,
    lambda folder: {"input": numbers(folder, 10)},
)


def test_results_have_no_place_unless_it_is_named(one: Ran) -> None:
    name = NO_PLACE.name
    told = f"FEED_NO_RESULTS {name} has no place for results: set tony.feed.{name}.output"
    assert one.said(NO_PLACE) == [told]


EVEN_COUNTS = [830, 120, 410, 1205, 77]


def uneven(folder: Path) -> str:
    for place in range(len(EVEN_COUNTS)):
        rows = range(sum(EVEN_COUNTS[:place]), sum(EVEN_COUNTS[: place + 1]))
        (folder / f"{place}.txt").write_text("".join(f"{row}\n" for row in rows))
    return str(folder)


def even(how: str, epochs: int) -> tuple[str, int, Reader]:
    program = """
    import collections, json
    feed = tony_ts.feed(NAME)
    sizes, seen = collections.Counter(), collections.Counter()
    task = tony_ts.task()
    for step, batch in enumerate(feed.batches(100), 1):
        # As an allreduce does: none goes on before all have come.
        task.barrier(f"{NAME}-{step}")
        sizes[len(batch)] += 1
        seen.update(map(int, batch[: len(batch) - batch.padding]))
    print(json.dumps([step, sizes, seen.most_common()]))
    """
    return (
        how,
        epochs,
        TWO.reader(program, lambda folder: {"input": uneven(folder), "uneven": how, "epochs": str(epochs)}),
    )


@pytest.mark.parametrize(("how", "epochs", "reader"), [even("drop", 2), even("pad", 2), even("stop-together", 1)])
def test_all_tasks_make_the_same_number_of_steps(two: Ran, how: str, epochs: int, reader: Reader) -> None:
    tasks = [json.loads(line) for line in two.said(reader)]
    assert tasks[0][0] == tasks[1][0] >= 2 * epochs
    times = collections.Counter[int]()
    for _, _, seen in tasks:
        times.update(dict(seen))
    if how == "pad":
        assert {size for _, sizes, _ in tasks for size in sizes} == {"100"}
        assert times == dict.fromkeys(range(sum(EVEN_COUNTS)), epochs)
    else:
        assert max(times.values()) <= epochs
        assert len(times) > sum(EVEN_COUNTS) / 3


def test_a_later_program_goes_on_where_an_epoch_ended_in_all_tasks(tmp_path: Path) -> None:
    program = f"""
    import itertools, json, pathlib, sys
    goes_on = False
    for how in ("drop", "pad"):
        kept = pathlib.Path({str(tmp_path)!r}, how)
        state = json.loads(kept.read_text()) if kept.exists() else None
        batches = (feed := tony_ts.feed(how, state)).batches(100)
        if state is None:
            rows = [len(batch) for batch in itertools.islice(batches, 10)]
            kept.write_text(json.dumps(feed.state()))
        else:
            goes_on = True
            print(how, sum(len(batch) - batch.padding for batch in batches))
    sys.exit(0 if goes_on else 1)
    """
    folder = numbers(tmp_path / "in", 1000)
    feeds = {how: {"input": folder, "uneven": how, "epochs": "2"} for how in ("drop", "pad")}
    conf = {f"tony.feed.{how}.{key}": value for how, feed in feeds.items() for key, value in feed.items()}
    assert said(program, {}, more={**conf, "tony.am.retry-count": "1"}) == ["drop 1000", "pad 1000"]


TOO_SMALL = TWO.reader(
    """
    try:
        list(tony_ts.feed(NAME).batches(100))
    except tony_ts.TonyError as error:
        print(error.code)
    """,
    lambda folder: {"input": numbers(folder, 1000) + "/a.txt", "uneven": "drop"},
)


def test_steps_of_a_feed_that_is_too_small_are_refused(two: Ran) -> None:
    assert two.said(TOO_SMALL) == ["FEED_TOO_SMALL"] * 2


def a_thousand(folder: Path) -> str:
    (folder / "a").write_text("".join(f"{row}\n" for row in range(1000)))
    return str(folder)


EVEN_BREAKS_OFF = ONE.reader(
    """
    feed = tony_ts.feed(NAME)
    rows = []
    for _ in range(40):
        for batch in feed.batches(10):
            rows.append(list(map(int, batch)))
            if len(rows) % 7 == 0:
                break
    print(sorted(sum(rows, [])) == list(range(1000)), min(map(len, rows)))
    """,
    lambda folder: {"input": a_thousand(folder), "uneven": "pad"},
)


def test_a_loop_that_breaks_off_goes_on_with_the_same_number_of_steps(one: Ran) -> None:
    assert one.said(EVEN_BREAKS_OFF) == ["True 10"]
