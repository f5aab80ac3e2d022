"""A program of a task asks its executor: as one of a job on this machine."""

from __future__ import annotations

import re
import sys
import textwrap
from pathlib import Path

import pytest
from conftest import ROOT

import tony_ts

SOURCE = str(ROOT / "python" / "src")


def said(program: str, *, instances: int = 1, stores: bool = True) -> list[str]:
    """What the tasks of such a job print."""
    Path("program.py").write_text("import tony_ts\n" + textwrap.dedent(program))
    command = f"{sys.executable} -W error program.py"
    places = {
        "tony.checkpoint.local-dir": "checkpoints",
        "tony.application.checkpoint-dir": Path("stored").absolute().as_uri(),
    }
    job = tony_ts.submit(
        command,
        scheduler="local",
        instances=instances,
        memory="256m",
        files=["program.py"],
        env={"PYTHONPATH": SOURCE},
        conf=places if stores else {},
    )
    job.wait()
    return sorted(line.line for line in job.logs("worker"))


def test_it_knows_its_place_reports_and_uses_the_store() -> None:
    lines = said(
        """
        import pathlib
        pathlib.Path("checkpoints/model").write_text("whole")
        task = tony_ts.task()
        print("place", task.name, task.role, task.index, task.generation, task.restarts, task.resume_from)
        print("place", len(task.cluster()["worker"]))
        print("place", task.report(7, loss=0.5))
        print("place", task.checkpoint("checkpoints/model", 7).should_checkpoint, task.should_stop)

        from concurrent.futures import ThreadPoolExecutor
        kv = tony_ts.task().kv
        kv["shared/rate"] = "0.1"
        print(kv["shared/rate"], "shared/none" in kv, kv.get("shared/none"), list(kv), len(kv))
        print(kv.put(kv.own + "a", b"\\xff", owned=True), kv.entry(kv.own + "a").owner)
        print(kv.setdefault("shared/rate", "0.2"), kv.setdefault("shared/new", "1"))
        try:
            kv.put("shared/rate", "2", if_revision=0)
        except tony_ts.ConditionFailed as error:
            print(error.code)
        try:
            kv["other"] = "1"
        except tony_ts.TaskError as error:
            print(error.code)
        for size in (200_000, 40_000_000):
            try:
                kv["shared/large"] = b"x" * size
            except tony_ts.TaskError as error:
                print(size, error.code)
        print([(change.revision, change.key) for _, change in zip(range(2), kv.watch(after=(1, 0)))])
        print(kv.delete("shared/new"), kv.delete("shared/new"), kv.delete_prefix("shared/"))
        for letter in "abcd":
            kv.put(f"shared/r/{letter}", letter)
        print("range", [entry.value for entry in kv.entries("shared/r/", start="shared/r/b", end="shared/r/d")])
        print("swap", kv.swap("shared/s", "1"), kv.swap("shared/s", b"\\xff"), kv.pop("shared/s"), kv.pop("shared/s"))
        revision = kv.update({"shared/u/a": "1", "shared/u/b": b"\\xff"})
        print("update", [(entry.value, entry.modified == revision) for entry in kv.entries("shared/u/")])
        with ThreadPoolExecutor(40) as pool:
            wrote = list(pool.map(lambda nth: kv.put(f"shared/t/{nth}", f"{nth}"), range(400)))
        read = [kv.entry(f"shared/t/{nth}")[1:4:2] for nth in range(400)]
        print("threads", read == [(b"%d" % nth, revision) for nth, revision in enumerate(wrote)])
        futures = [kv.put_future(f"shared/f/{nth % 9}", f"{nth}") for nth in range(410)]
        outside, durable = kv.put_future("other", "1"), kv.put_future("shared/durable", "1", durable=True)
        revisions = [future.result() for future in futures]
        last = kv.entry("shared/f/4")
        print("futures", revisions == sorted(revisions), last.value, last.modified == revisions[-1])
        print("futures", outside.exception().code, durable.result() == kv.entry("shared/durable").modified)
        import asyncio
        async def put():
            return await asyncio.wrap_future(kv.put_future("shared/loop", "1"))
        print("loop", asyncio.run(put()) == kv.entry("shared/loop").modified)
        try:
            kv.put_future("shared/\\ud800", "1")
        except UnicodeEncodeError:
            print("no text")
        """
    )
    assert lines == [
        "2 worker:0",
        "200000 LIMIT",
        "40000000 TOO_LONG",
        "CONDITION",
        "FORBIDDEN",
        "True False 1",
        "[(1, 'shared/rate'), (3, 'shared/new')]",
        "b'0.1' False None ['shared/rate'] 1",
        "b'0.1' b'1'",
        "futures FORBIDDEN True",
        "futures True b'409' True",
        "loop True",
        "no text",
        "place 1",
        "place Advice(answer='continue', cause=None, deadline_ms=None, ignored=(), warning=None)",
        "place False False",
        "place worker:0 worker 0 1 0 None",
        "range [b'b', b'c']",
        "swap None b'1' b'\\xff' None",
        "threads True",
        "update [(b'1', True), (b'\\xff', True)]",
    ]


def test_numbers_of_other_libraries_are_told_and_what_is_none_is_named() -> None:
    lines = said(
        """
        class Tensor:
            def __init__(self, *items):
                self.items, self.shape = items, (len(items),)
            def __float__(self):
                if len(self.items) != 1:
                    raise RuntimeError("a Tensor with 2 elements cannot be converted to Scalar")
                return self.items[0]
            def __index__(self):
                return int(self.items[0])

        task = tony_ts.task()
        told = task.report(Tensor(7), loss=Tensor(0.5), good=True, **{"val loss": 2.0})
        print(told.answer, *told.ignored)
        for metrics in ({"loss": Tensor(1, 2)}, {"loss": "0.5"}, {"loss": [1]}, {"loss": None}):
            try:
                task.report(8, **metrics)
            except tony_ts.BadValue as error:
                print(error.code, error, isinstance(error, TypeError))
        for step in ("8", 8.5):
            try:
                task.report(step)
            except tony_ts.TaskError as error:
                print(error.code, error)

        kv = task.kv
        for put in (
            lambda: kv.put("shared/rate", 3),
            lambda: kv.put("shared/rate", 3, if_revision=0),
            lambda: kv.put_future("shared/rate", {}),
            lambda: kv.update({"shared/rate": 3}),
            lambda: kv.setdefault("shared/rate", 3),
            lambda: kv.swap("shared/rate", None),
        ):
            try:
                put()
            except tony_ts.BadValue as error:
                print(str(error).partition(": put")[0])
        print("left", [*kv])
        """
    )
    value = "the value of shared/rate is text or bytes, not"
    assert lines == sorted(
        [
            'continue The metric "val loss" is not kept: a name has 1 to 64 characters and no spaces.',
            "BAD_VALUE the metric loss is a number, not Tensor of the shape (2,) True",
            "BAD_VALUE the metric loss is a number, not '0.5' True",
            "BAD_VALUE the metric loss is a number, not [1] True",
            "BAD_VALUE the metric loss is a number, not None True",
            "BAD_VALUE step is a whole number, not '8'",
            'BAD_REPORT "step" is not a whole number: 8.5',
            *[f"{value} {what}" for what in ("3", "3", "{}", "3", "3", "None")],
            "left []",
        ]
    )


def test_a_checkpoint_that_goes_with_its_container_is_warned_of_once() -> None:
    lines = said(
        """
        import warnings
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            told = [tony_ts.task().checkpoint("model.pt", step) for step in range(2)]
        print(len(caught), caught[0].filename.endswith("program.py"), str(caught[0].message) == told[1].warning)
        print(told[0].warning)
        """,
        stores=False,
    )
    assert lines[1] == "1 True True"
    assert re.fullmatch(
        r"/\S+/model\.pt is in this container alone, and is lost with it: set tony\.checkpoint\.local-dir and "
        r"tony\.application\.checkpoint-dir, and save it below TONY_CHECKPOINT_LOCAL_DIR, or tell an address such as "
        "hdfs://…",
        lines[0],
    )


def test_an_evaluator_waits_for_the_end_of_the_workers() -> None:
    evaluator = """
        task = tony_ts.task()
        try:
            task.wait_for_end(timeout=0.1)
        except tony_ts.TaskError as error:
            print(error.code, error)
        task.kv["shared/go"] = "1"
        print([(end.task, end.state, end.exit, end.succeeded) for end in task.wait_for_end(timeout=60)])
        """
    worker = """
        kv = tony_ts.task().kv
        while "shared/go" not in kv:
            time.sleep(0.1)
        sys.exit(tony_ts.task().index * 3)
        """
    for name, program in {"evaluator.py": evaluator, "worker.py": worker}.items():
        Path(name).write_text("import sys, time, tony_ts\n" + textwrap.dedent(program))
    job = tony_ts.submit(
        scheduler="local",
        roles={
            "worker": tony_ts.Role(f"{sys.executable} worker.py", instances=2, memory="256m"),
            "evaluator": tony_ts.Role(f"{sys.executable} evaluator.py", memory="256m"),
        },
        files=["evaluator.py", "worker.py"],
        env={"PYTHONPATH": SOURCE},
        conf={"tony.application.fail-on-worker-failure-enabled": False},
    )
    job.wait()
    assert [line.line for line in job.logs("evaluator")] == [
        "ENDS_TIMEOUT not all tasks of worker have ended",
        "[('worker:0', 'succeeded', '0', True), ('worker:1', 'failed', '3', False)]",
    ]


def test_its_tasks_meet_and_what_the_guide_shows_runs() -> None:
    guide = (ROOT / "docs" / "guide" / "python.md").read_text(encoding="utf-8")
    section = guide.split("\n## In a task\n")[1].split("\n##")[0]
    [program, _] = re.findall(r"^```python\n(.*?)^```", section, re.DOTALL | re.MULTILINE)
    meet = """
task = tony_ts.task()
time.sleep(task.index)
task.kv[f"shared/came-{task.index}"] = ""
task.barrier("come", timeout=60)
print("met", len(list(task.kv.entries("shared/came-"))))
"""
    lines = said(f"import time\ndef save(step): return f'model-{{step}}.pt'\n{program}{meet}", instances=2)
    assert lines == ["0.1", "0.1", "met 2", "met 2", "worker:0 1 None", "worker:1 1 None"]


def test_the_program_of_the_guide_sees_that_it_is_to_stop() -> None:
    guide = (ROOT / "docs" / "guide" / "python.md").read_text(encoding="utf-8")
    section = guide.split("\n## In a task\n")[1].split("\n##")[0]
    [program, _] = re.findall(r"^```python\n(.*?)^```", section, re.DOTALL | re.MULTILINE)
    without_end = """
import itertools, time

def range(_):
    for step in itertools.count():
        time.sleep(0.1)
        print("step", step, flush=True)
        yield step
"""
    Path("program.py").write_text(f"{without_end}{program}print('stops', advice.cause)\n")
    command = f"{sys.executable} program.py"
    env = {"PYTHONPATH": SOURCE}
    job = tony_ts.submit(command, scheduler="local", memory="256m", files=["program.py"], env=env)
    for line in job.logs(follow=True):
        if line.line == "step 1":
            job.kill("enough")
    assert [*job.logs()][-1].line.startswith("stops ")


def test_a_barrier_in_a_loop_is_the_next_one_each_time_and_its_keys_are_nobody_elses() -> None:
    lines = said(
        """
        import time
        task = tony_ts.task()
        kv = task.kv
        try:
            task.barrier("epoch", roles=["nobody"])
        except tony_ts.TaskError as error:
            assert error.code == "BAD_CALL", error
        for epoch in range(3):
            time.sleep(0.5 * task.index)
            kv[f"shared/came/{epoch}/{task.index}"] = ""
            task.barrier("epoch", timeout=60)
            print(epoch, len([*kv.entries(f"shared/came/{epoch}/")]))
        task.barrier("counted", timeout=60)
        if task.index == 0:
            print("own", kv.delete_prefix("shared/"), kv.delete_prefix("shared/"))
        task.barrier("epoch", timeout=60)
        if task.index == 0:
            try:
                task.barrier("epoch", timeout=0.1)
            except tony_ts.TaskError as error:
                print(error)
        """,
        instances=2,
    )
    met = [f"{epoch} 2" for epoch in range(3) for _ in range(2)]
    assert lines == sorted([*met, "1 of 2 tasks have not come to meeting 5 of epoch: worker:1", "own 6 0"])


def test_barriers_of_one_name_are_counted_by_who_is_to_come() -> None:
    program = """
import tony_ts
task = tony_ts.task()
if task.role == "worker":
    task.barrier("data", timeout=30)
task.barrier("data", roles=["worker", "helper"], timeout=30)
task.barrier("data", roles=["helper", "worker"], timeout=30)
print("met")
"""
    Path("program.py").write_text(program)
    roles = {role: tony_ts.Role(f"{sys.executable} program.py", memory="256m") for role in ("worker", "helper")}
    env = {"PYTHONPATH": SOURCE}
    conf = {"tony.am.retry-count": 0}
    job = tony_ts.submit(roles=roles, scheduler="local", files=["program.py"], env=env, conf=conf)
    assert job.wait()["result"] == "succeeded"
    assert [line.line for role in roles for line in job.logs(role)] == ["met", "met"]


def test_elsewhere_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TONY_API", raising=False)
    with pytest.raises(tony_ts.NotInATask) as raised:
        tony_ts.task()
    assert raised.value.code == "NOT_IN_A_TASK"
