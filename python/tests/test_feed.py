"""A program reads a feed: as one of a job on this machine."""

from __future__ import annotations

import collections
import gzip
import json
import re
import sys
import textwrap
from pathlib import Path

import pytest
from conftest import ROOT

import tony_ts

SOURCE = str(ROOT / "python" / "src")
MIB = 1 << 20


@pytest.fixture(autouse=True)
def _cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


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


def numbers(folder: Path, count: int) -> str:
    """The input of two files with those numbers, a line each, of which every split has some."""
    folder.mkdir()
    lines = [f"{number:08d}\n" for number in range(count)]
    (folder / "a.txt").write_text("".join(lines[: count // 2]))
    (folder / "b.txt.gz").write_bytes(gzip.compress("".join(lines[count // 2 :]).encode()))
    return str(folder)


def test_its_tasks_have_each_row_once(tmp_path: Path) -> None:
    count = 400_000
    conf = {"input": numbers(tmp_path / "in", count), "split-size": "1m", "shuffle": "7", "epochs": "2"}
    program = """
    sizes, total = set(), 0
    for batch in tony_ts.feed("train").batches(1000):
        sizes.add(len(batch) <= 1000)
        total += sum(map(int, batch))
    print(sizes, total)
    """
    totals = [int(line.split()[1]) for line in said(program, conf, instances=2)]
    assert sum(totals) == count * (count - 1)


def test_a_program_that_breaks_off_goes_on_where_it_was(tmp_path: Path) -> None:
    program = """
    feed = tony_ts.feed("train")
    rows = []
    for row in feed.rows():
        rows.append(int(row))
        if len(rows) == 10:
            break
    for batch in tony_ts.feed("train").batches(3):
        rows += map(int, batch)
        if len(rows) > 20:
            break
    rows += map(int, feed.rows())
    print(len(rows), rows == sorted(set(rows)))
    """
    # The row, or the batch, after which it broke off was not said to be used, and was: it does not come again.
    assert said(program, {"input": numbers(tmp_path / "in", 1000)}) == ["1000 True"]


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
    splits = """
    feed = tony_ts.feed("train")
    [first] = [split for _, split in zip(range(1), feed.splits())]
    state = feed.state()
    print(first.path[-1], [split.path[-2:] for split in feed.splits()], state["partly"])
    """
    assert said(splits, conf) == ["t ['gz'] {'0': 1}"]


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


def test_rows_of_other_formats(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a").write_bytes(b"aabbcc")
    (tmp_path / "in" / "b").write_bytes(b"dd")
    program = 'print(tony_ts.feed("train").format, list(tony_ts.feed("train").rows()))'
    conf = {"input": str(tmp_path / "in")}
    assert said(program, {**conf, "format": "file"}) == ["file [b'aabbcc', b'dd']"]
    assert said(program, {**conf, "format": "fixed", "record-size": "2"}) == ["fixed [b'aa', b'bb', b'cc', b'dd']"]
    views = """
    rows = list(tony_ts.feed("train", views=True).rows())
    print([type(row).__name__ for row in rows], b"".join(rows))
    """
    assert said(views, {**conf, "format": "file"}) == ["['memoryview', 'memoryview'] b'aabbccdd'"]
    splits = """
    feed = tony_ts.feed("train")
    print([(split.path.rpartition("/")[2], split.start, split.end, split.epoch) for split in feed.splits()])
    try:
        list(tony_ts.feed("train").rows())
    except tony_ts.TonyError as error:
        print(error.code)
    """
    assert said(splits, {**conf, "format": "bytes"}) == ["[('a', 0, 6, 0), ('b', 0, 2, 0)]"]


def test_what_cannot_be_read_is_left_out_and_told(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.gz").write_bytes(gzip.compress(b"1\n2\n")[:20])
    (tmp_path / "in" / "b").write_bytes(b"3\n")
    program = 'print([row for row in tony_ts.feed("train").rows() if row == b"3"])'
    job = ended(program, {"input": str(tmp_path / "in")})
    assert lines_of(job) == ["[b'3']"]
    [feed] = job.report["feeds"]
    [failure] = feed["failures"]
    assert (feed["leftOut"], feed["epoch"], failure["path"]) == (1, 1, f"file://{tmp_path}/in/a.gz")
    assert "unexpected end of file" in failure["reason"]


def test_a_program_that_leaves_early_leaves_splits_unread_and_no_success(tmp_path: Path) -> None:
    out = tmp_path / "out"
    conf = {"input": numbers(tmp_path / "in", 400_000), "split-size": "1m", "output": str(out), "window": "1"}
    program = """
    feed = tony_ts.feed("train")
    for batch in feed.batches(10_000):
        feed.write([str(len(batch))])
        if int(batch[-1]) > 140_000:
            break
    """
    [feed] = ended(program, conf).report["feeds"]
    assert (feed["epoch"], feed["splits"], feed["used"], feed["output"]) == (0, 3, 1, str(out))
    assert [(reader["splits"], reader["rows"], reader["isDone"]) for reader in feed["readers"]] == [(1, 116_509, True)]
    assert sorted(path.name for path in out.iterdir()) == ["_manifest.json", "part-0000000"]
    parts = [split.get("part") for split in json.loads((out / "_manifest.json").read_text())["splits"]]
    assert parts == ["part-0000000", None, None]


def test_a_job_without_such_a_feed_is_told(tmp_path: Path) -> None:
    program = """
    try:
        tony_ts.feed("test")
    except tony_ts.TaskError as error:
        print(error.code, error)
    """
    conf = {"input": numbers(tmp_path / "in", 10)}
    assert said(program, conf) == ["NO_SUCH_FEED the job has no feed test: there is train"]


def test_what_the_guide_shows(tmp_path: Path) -> None:
    guide = (ROOT / "docs" / "guide" / "feeds.md").read_text(encoding="utf-8")
    program, results, exact = re.findall(r"^```python\n(.*?)^```", guide, re.DOTALL | re.MULTILINE)
    conf = {"input": numbers(tmp_path / "in", 200)}
    assert said(f"def train(batch): print(len(batch))\n{program}", conf) == ["128", "72"]
    given = """
import os
def train(batch): pass
def save(what, path): print(what["feed"]["partly"])
rank, model, path = 0, None, "saved"
"""
    assert said(given + exact.replace("% 1000", "% 1"), conf) == ["{'0': 100, '1': 28}", "{'1': 100}"]
    more = {"tony.feed.images.input": str(tmp_path / "in"), "tony.feed.images.output": str(tmp_path / "labels")}
    said(f"def label(row): return str(int(row) + 1)\n{results}", {}, more=more)
    parts = [part.read_text().split() for part in sorted((tmp_path / "labels").glob("part-*"))]
    assert [int(row) for part in parts for row in part] == list(range(1, 201))


def test_elsewhere_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TONY_API", raising=False)
    with pytest.raises(tony_ts.NotInATask):
        tony_ts.feed("train")


def test_results_are_a_file_for_each_split_in_their_order(tmp_path: Path) -> None:
    program = """
    feed = tony_ts.feed("train")
    for batch in feed.batches(40_000):
        feed.write(row.decode() for row in batch if row.endswith(b"0"))
        feed.write([b"end"])
    try:
        feed.write([b"late"])
    except tony_ts.TonyError as error:
        print(error.code)
    """
    out = tmp_path / "out"
    conf = {"input": numbers(tmp_path / "in", 400_000), "split-size": "1m", "shuffle": "7", "output": str(out)}
    assert said(program, conf, instances=2) == ["NO_ROWS", "NO_ROWS"]
    parts = sorted(out.glob("part-*"))
    assert [part.name for part in parts] == ["part-0000000", "part-0000001", "part-0000002"]
    rows = [row for part in parts for row in part.read_text().splitlines()]
    assert [row for row in rows if row != "end"] == [f"{number:08d}" for number in range(0, 400_000, 10)]
    # None of a batch of another split stands in between.
    assert [part.read_text().endswith("end\n") for part in parts] == [True, True, True]
    manifest = json.loads((out / "_manifest.json").read_text())
    assert [split["bytes"] for split in manifest["splits"]] == [part.stat().st_size for part in parts]
    assert sorted(path.name for path in out.glob("_*")) == ["_SUCCESS", "_manifest.json"]


def test_a_split_that_breaks_off_has_no_results(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    damaged = gzip.compress("".join(f"{number * 7919 % 10_007}\n" for number in range(20_000)).encode())
    (tmp_path / "in" / "a.gz").write_bytes(damaged[: len(damaged) // 2])
    (tmp_path / "in" / "b").write_bytes(b"1\n2\n3\n")
    program = """
    feed = tony_ts.feed("train")
    for batch in feed.batches(7):
        feed.write(batch)
    print("all")
    """
    out = tmp_path / "out"
    assert said(program, {"input": str(tmp_path / "in"), "output": str(out)}) == ["all"]
    assert {path.name: path.read_bytes() for path in out.glob("part-*")} == {"part-0000001": b"1\n2\n3\n"}
    assert not (out / "_SUCCESS").exists()


def test_one_loop_of_one_process_reads_it(tmp_path: Path) -> None:
    program = """
    import os
    feed = tony_ts.feed("train")
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
    """
    assert said(program, {"input": numbers(tmp_path / "in", 10)}) == [
        "[b'00000000', b'00000001'] [b'00000002', b'00000003']",
        "again FEED_READ_TWICE",
        "child FEED_OF_ANOTHER_PROCESS",
        "rest 6",
        "write write() takes a list of rows: write one as write([row])",
    ]


def test_lines_may_be_longer_than_what_is_read_at_a_time(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    lengths = [0, 1, 3 * MIB, 2, 30 * MIB]
    (tmp_path / "in" / "a").write_bytes(b"\n".join(b"x" * length for length in lengths))
    program = 'print([len(row) for row in tony_ts.feed("train").rows()])'
    assert said(program, {"input": str(tmp_path / "in"), "split-size": "64m"}) == [str(lengths)]


def test_results_have_no_place_unless_it_is_named(tmp_path: Path) -> None:
    program = """
    feed = tony_ts.feed("train")
    try:
        for row in feed.rows():
            feed.write([row])
    except tony_ts.TaskError as error:
        print(error.code, error)
    """
    conf = {"input": numbers(tmp_path / "in", 10)}
    told = "FEED_NO_RESULTS train has no place for results: set tony.feed.train.output"
    assert said(program, conf) == [told]


EVEN = """
import collections, json, os
feed = tony_ts.feed("train")
sizes, seen = collections.Counter(), collections.Counter()
task = tony_ts.task()
for step, batch in enumerate(feed.batches(100), 1):
    # As an allreduce does: none goes on before all have come.
    task.barrier(f"step-{step}")
    sizes[len(batch)] += 1
    seen.update(map(int, batch[: len(batch) - batch.padding]))
print(json.dumps([step, sizes, seen.most_common()]))
"""


@pytest.mark.parametrize("how", ["drop", "pad", "stop-together"])
def test_all_tasks_make_the_same_number_of_steps(tmp_path: Path, how: str) -> None:
    (tmp_path / "in").mkdir()
    counts = [830, 120, 410, 1205, 77]
    for place in range(len(counts)):
        rows = range(sum(counts[:place]), sum(counts[: place + 1]))
        (tmp_path / "in" / f"{place}.txt").write_text("".join(f"{row}\n" for row in rows))
    epochs = 1 if how == "stop-together" else 2
    conf = {"input": str(tmp_path / "in"), "uneven": how, "epochs": str(epochs)}
    tasks = [json.loads(line) for line in said(EVEN, conf, instances=2)]
    assert tasks[0][0] == tasks[1][0] >= 2 * epochs
    times = collections.Counter[int]()
    for _, _, seen in tasks:
        times.update(dict(seen))
    if how == "pad":
        assert {size for _, sizes, _ in tasks for size in sizes} == {"100"}
        assert times == dict.fromkeys(range(sum(counts)), epochs)
    else:
        assert max(times.values()) <= epochs
        assert len(times) > sum(counts) / 3


@pytest.mark.parametrize("how", ["drop", "pad"])
def test_a_later_program_goes_on_where_an_epoch_ended_in_all_tasks(tmp_path: Path, how: str) -> None:
    kept = tmp_path / "state.json"
    program = f"""
    import itertools, json, pathlib, sys
    kept = pathlib.Path({str(kept)!r})
    state = json.loads(kept.read_text()) if kept.exists() else None
    batches = (feed := tony_ts.feed("train", state)).batches(100)
    if state is None:
        rows = [len(batch) for batch in itertools.islice(batches, 10)]
        kept.write_text(json.dumps(feed.state()))
        sys.exit(1)
    print(sum(len(batch) - batch.padding for batch in batches))
    """
    conf = {"input": numbers(tmp_path / "in", 1000), "uneven": how, "epochs": "2"}
    assert said(program, conf, more={"tony.am.retry-count": "1"}) == ["1000"]


def test_steps_of_a_feed_that_is_too_small_are_refused(tmp_path: Path) -> None:
    program = """
    try:
        list(tony_ts.feed("train").batches(100))
    except tony_ts.TonyError as error:
        print(error.code)
    """
    conf = {"input": numbers(tmp_path / "in", 1000) + "/a.txt", "uneven": "drop"}
    assert said(program, conf, instances=2) == ["FEED_TOO_SMALL"] * 2


def test_a_loop_that_breaks_off_goes_on_with_the_same_number_of_steps(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a").write_text("".join(f"{row}\n" for row in range(1000)))
    program = """
    feed = tony_ts.feed("train")
    rows = []
    for _ in range(40):
        for batch in feed.batches(10):
            rows.append(list(map(int, batch)))
            if len(rows) % 7 == 0:
                break
    print(sorted(sum(rows, [])) == list(range(1000)), min(map(len, rows)))
    """
    assert said(program, {"input": str(tmp_path / "in"), "uneven": "pad"}) == ["True 10"]
