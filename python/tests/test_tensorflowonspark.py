"""Programs of TensorFlowOnSpark, as tasks of a job on this machine."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path
from typing import Iterator

import pytest
from conftest import ROOT
from test_feed import Ran, Readers, numbers, ran, said

import tony_ts
from tony_ts import tensorflowonspark

TENSORFLOW = {"tony.application.framework": "tensorflow"}

PROGRAM = """
from tony_ts import tensorflowonspark
from tony_ts.tensorflowonspark import TFNode

def main_fun(args, ctx):
"""


READERS = Readers(1)


def main(main_fun: str) -> str:
    indented = textwrap.indent(textwrap.dedent(main_fun), "    ")
    return f"{PROGRAM}{indented}\ntensorflowonspark.run(main_fun, 10, parse=int)\n"


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    return ran(READERS, tmp_path_factory.mktemp("one"), TENSORFLOW)


def test_a_map_fun_has_each_row_once_and_ends(tmp_path: Path) -> None:
    main_fun = """
    tf_feed = TFNode.DataFeed(ctx.mgr, False)
    total = 0
    while not tf_feed.should_stop():
        batch = tf_feed.next_batch(args)
        if len(batch) > 0:
            total += sum(batch)
    print(ctx.job_name, ctx.num_workers, total)
    """
    # The feed is called as the queue was.
    conf = {"tony.feed.input.input": numbers(tmp_path / "in", 1000), "tony.feed.input.epochs": "2"}
    lines = said(main(main_fun), {}, instances=2, more={**TENSORFLOW, **conf})
    assert sum(int(line.rpartition(" ")[2]) for line in lines) == 999_000
    assert {line.rpartition(" ")[0] for line in lines} == {"worker 2"}


BATCHES = """
    sizes = []
    feed = ctx.get_data_feed(train_mode=ctx.task_index > 9, qname_in=NAME)
    while not feed.should_stop():
        sizes.append(len(feed.next_batch(args)))
    print(sizes)
    """
OF_RESULTS = READERS.reader(main(BATCHES), lambda folder: {"input": numbers(folder, 30)})
OF_TRAINING = READERS.reader(main(BATCHES.replace("> 9", "< 9")), lambda folder: {"input": numbers(folder, 30)})


def test_batches_of_results_are_of_one_split_and_those_of_training_are_not(one: Ran) -> None:
    assert one.said(OF_RESULTS) == ["[10, 5, 10, 5, 0]"]
    assert one.said(OF_TRAINING) == ["[10, 10, 10, 0]"]


TERMINATES = READERS.reader(
    main("""
    feed = TFNode.DataFeed(ctx.mgr, qname_in=NAME)
    print(feed.next_batch(2), feed.next_batch(3), feed.should_stop())
    feed.terminate()
    print(feed.next_batch(2), feed.should_stop())
    """),
    lambda folder: {"input": numbers(folder, 30)},
)


def test_who_terminates_has_no_more_rows_and_may_change_the_size_of_a_batch(one: Ran) -> None:
    assert one.said(TERMINATES) == ["[0, 1] [2, 3, 4] False", "[] True"]


RESULTS = READERS.reader(
    main("""
    feed = TFNode.DataFeed(ctx.mgr, False, NAME)
    while not feed.should_stop():
        feed.batch_results(row * row for row in feed.next_batch(args))
    """),
    lambda folder: {"input": numbers(folder / "in", 30), "output": str(folder / "out")},
)


def test_results_of_batches_are_kept(one: Ran) -> None:
    parts = sorted((one.folder(RESULTS) / "out").glob("part-*"))
    rows = [row for part in parts for row in part.read_text().splitlines()]
    assert rows == [str(number * number) for number in range(30)]


def test_columns_become_tensors_by_the_order_of_their_names(monkeypatch: pytest.MonkeyPatch) -> None:
    class Feed:
        def batches(self, size: int, *, across_splits: bool) -> Iterator[list[bytes]]:
            return iter([[b"1,2", b"3,4"]])

    monkeypatch.setattr(tensorflowonspark, "feed", lambda name: Feed())
    manager = tensorflowonspark.TFManager(lambda row: row.decode().split(","))
    feed = tensorflowonspark.DataFeed(manager, input_mapping={"col2": "label", "col1": "image"})
    assert feed.next_batch(2) == {"image": ["1", "3"], "label": ["2", "4"]}
    assert feed.next_batch(2) == {"image": [], "label": []}


def test_elsewhere_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CLUSTER_SPEC", raising=False)
    with pytest.raises(tony_ts.NotInATask, match=r"tony\.application\.framework = tensorflow"):
        tensorflowonspark.TFNodeContext()


def test_where_a_task_stands_and_what_its_paths_mean(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    spec = {"worker": ["b:1", "c:1"], "chief": ["a:1"], "ps": ["d:1"], "other": ["e:1"]}
    monkeypatch.setenv("CLUSTER_SPEC", json.dumps(spec))
    for job_name, index, number in [("ps", 0, 0), ("chief", 0, 1), ("worker", 1, 3), ("other", 0, 4)]:
        monkeypatch.setenv("JOB_NAME", job_name)
        monkeypatch.setenv("TASK_INDEX", str(index))
        ctx = tensorflowonspark.TFNodeContext()
        assert (ctx.executor_id, ctx.num_workers) == (number, 3)
    monkeypatch.delenv("HADOOP_CONF_DIR", raising=False)
    assert ctx.absolute_path("model") == f"file://{ctx.working_dir}/model"
    setting = "<property><name>fs.defaultFS</name><value>hdfs://nn:8020/</value></property>"
    (tmp_path / "core-site.xml").write_text(f"<configuration>{setting}</configuration>")
    monkeypatch.setenv("HADOOP_CONF_DIR", str(tmp_path))
    monkeypatch.setattr("getpass.getuser", lambda: "alice")
    paths = [ctx.absolute_path(path) for path in ("viewfs://a/b", "/data", "model")]
    assert paths == ["viewfs://a/b", "hdfs://nn:8020/data", "hdfs://nn:8020/user/alice/model"]


def test_the_program_that_the_guide_shows(tmp_path: Path) -> None:
    guide = (ROOT / "docs" / "guide" / "coming-from-tensorflowonspark.md").read_text(encoding="utf-8")
    program = guide.split("```python\n")[1].split("```")[0]
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a").write_text("1,2,3\n4,5,6\n")
    lines = {**TENSORFLOW, "tony.feed.input.input": str(tmp_path / "in")}
    assert said(f"def train(image, label): print(image, label)\n{program}", {}, more=lines) == ["[2, 3] 1", "[5, 6] 4"]
