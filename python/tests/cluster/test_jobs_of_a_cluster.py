"""Jobs of a real cluster."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import tony_ts
from tony_ts import Job, JobFailed, JobInvalid, JobKilled, JobNotFound, Trial

FAILS = """
print("reading", flush=True)
raise ValueError("no such column: price")
"""


def test_a_job_succeeds_and_its_lines_are_read() -> None:
    job = tony_ts.submit("echo hello from $JOB_NAME:$TASK_INDEX", instances=2, memory="512m")
    assert job.id.startswith("application_")
    assert job.wait(timeout=300)["result"] == "succeeded"
    assert sorted(map(str, job.logs(task="worker"))) == [
        "worker:0 | hello from worker:0",
        "worker:1 | hello from worker:1",
    ]
    assert job.state == "succeeded"
    assert job.url is not None
    assert job.id in job.url


def test_a_failed_job_shows_its_traceback_and_report() -> None:
    Path("train.py").write_text(FAILS)
    job = tony_ts.submit("python3 train.py", memory="512m", files=["train.py"])
    with pytest.raises(JobFailed, match=r"worker:0 on \S+:\n  Traceback ") as raised:
        job.wait(timeout=300)
    assert raised.value.traceback.endswith("ValueError: no such column: price")
    assert raised.value.report is not None
    assert [task["exit"] for task in raised.value.report["tasks"]] == ["1"]


def test_a_function_of_a_program_runs_in_each_task() -> None:
    Path("shapes.py").write_text("def area(side):\n    return side * side\n")
    Path("program.py").write_text(
        """
import functools, os, sys
import shapes
import tony_ts

def train(side):
    print("task", os.environ["TASK_INDEX"], shapes.area(side))
    if side == 4:
        raise ValueError("no such side")

def submit(side):
    python = {"PYTHON": sys.executable}
    return tony_ts.submit(functools.partial(train, side), instances=2, memory="512m", env=python)

job = submit(3)
job.wait()
print(*sorted(map(str, job.logs("worker"))), sep="\\n")
try:
    submit(4).wait()
except tony_ts.JobFailed as error:
    print(error.traceback)
"""
    )
    said = subprocess.run([sys.executable, "program.py"], stdout=subprocess.PIPE, check=True).stdout.decode()
    assert said.splitlines()[:2] == ["worker:0 | task 0 9", "worker:1 | task 1 9"]
    assert '    raise ValueError("no such side")' in said
    assert said.endswith("ValueError: no such side\n")


def test_jobs_at_once_are_submitted_killed_and_followed_by_id() -> None:
    with ThreadPoolExecutor(3) as pool:
        jobs = list(pool.map(lambda _: tony_ts.submit("sleep 600", memory="256m", name="at-once"), range(3)))
        list(pool.map(Job.kill, jobs))
    for job in jobs:
        with pytest.raises(JobKilled):
            Job(job.id).wait(timeout=300)


def test_what_the_cluster_refuses_is_said_in_the_callers_words() -> None:
    with pytest.raises(tony_ts.TonyError, match="nowhere"):
        tony_ts.submit("true", memory="512m", queue="nowhere")
    with pytest.raises(tony_ts.TonyError, match=r"submit\(memory=…\): a worker asks for 9000 GiB"):
        tony_ts.submit("true", memory="9000g")
    with pytest.raises((JobNotFound, JobInvalid)):
        Job("application_1795305600000_0001").wait()


def test_a_search_of_a_function_runs_its_trials_in_one_application() -> None:
    def objective(trial: Trial) -> float:
        return float(trial.params["x"])

    job = tony_ts.search(
        objective,
        {"x": [3, 1, 2]},
        metric="loss",
        direction="minimize",
        algorithm="grid",
        parallel=2,
        memory="512m",
        env={"PYTHON": sys.executable},
    )
    assert job.wait(timeout=300)["result"] == "succeeded"
    assert [trial["value"] for trial in job.trials()] == [1, 2, 3]
    best = job.best()
    assert best is not None
    assert best["params"] == {"x": 1}
