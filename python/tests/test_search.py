"""Searches that a program starts, on this machine."""

from __future__ import annotations

import asyncio
import functools
import sys
from pathlib import Path
from typing import Any

import pytest

import tony_ts
from tony_ts import AsyncJob, Job, JobFailed, JobInvalid, Role, Trial

LR = {"lr": "float 0.1 0.9"}
#: The first trial that fails ends the search with its failure.
GIVES_UP: Any = {
    "trials": 2,
    "parallel": 1,
    "conf": {"tony.search.retry-count": 0, "tony.search.on-failed-trial": "end"},
}


def search(job: Any, params: Any = None, **arguments: Any) -> Job:
    return tony_ts.search(job, params, scheduler="local", memory="512m", **arguments)


def test_a_functions_result_is_the_metric_and_the_best_trial_is_found() -> None:
    def objective(offset: float, trial: Trial) -> float:
        penalty = 1 if trial.params["optimizer"] == "sgd" else 0
        return float(abs(trial.params["lr"] - 0.5) + offset + penalty)

    job = search(
        functools.partial(objective, 2),
        {**LR, "optimizer": ["adam", "sgd"]},
        metric="loss",
        direction="minimize",
        trials=4,
        parallel=2,
        algorithm="random",
        name="of-python",
    )
    assert job.wait()["result"] == "succeeded"
    trials = job.trials()
    assert sorted(trial["number"] for trial in trials) == [0, 1, 2, 3]
    values = [trial["value"] for trial in trials]
    assert values == sorted(values)
    best = job.best()
    assert best == trials[0]
    assert best is not None
    assert best["value"] == pytest.approx(objective(2, Trial(0, best["params"])))
    assert job.report["name"] == "of-python"
    asynchronous = AsyncJob(job.id)
    assert asyncio.run(asynchronous.trials()) == trials
    assert asyncio.run(asynchronous.best()) == best


def test_a_function_may_report_by_itself_and_return_nothing() -> None:
    def objective(trial: Trial) -> None:
        tony_ts.task().report(1, accuracy=trial.params["layers"])

    job = search(objective, {"layers": [1, 2.5]}, metric="accuracy", direction="maximize", algorithm="grid")
    job.wait()
    assert [trial["params"] for trial in job.trials()] == [{"layers": 2.5}, {"layers": 1}]


def test_a_command_has_its_parameters_and_an_earlier_search_is_gone_on_with() -> None:
    Path("train.py").write_text(
        "import json, os, sys\n"
        "with open(os.environ['TONY_PROGRESS_FILE'], 'a') as progress:\n"
        "    progress.write(json.dumps({'metrics': {'loss': float(sys.argv[1])}}) + '\\n')\n"
    )
    command = f"{sys.executable} train.py {{{{param.lr}}}}"
    given: Any = {"metric": "loss", "direction": "minimize", "files": ["train.py"], "parallel": 1}
    first = search(command, LR, trials=1, **given)
    first.wait()
    [tried] = first.trials()
    assert tried["value"] == tried["params"]["lr"]
    second = search(command, LR, trials=2, resume=first.id, **given)
    second.wait()
    assert tried["params"] in [trial["params"] for trial in second.trials()]
    assert len(second.trials()) == 2


def test_there_is_no_best_trial_where_all_failed() -> None:
    def objective(trial: Trial) -> float:
        raise ValueError(f"no {trial.number}")

    job = search(objective, LR, metric="loss", direction="minimize", trials=1, conf={"tony.search.retry-count": 0})
    with pytest.raises(JobFailed, match=r"1 trial: 1 failed: trial:0 .*ValueError: no 0"):
        job.wait()
    assert job.best() is None
    [trial] = job.trials()
    assert trial["state"] == "failed"
    assert trial["lines"][-1] == "ValueError: no 0"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"params": {"lr": "float 1 0"}}, r"search\(params=…\).*float LOW HIGH with the lower number first"),
        ({"params": {"on": [True, False]}}, r"a choice of on is a number, or a text without \", not True"),
        ({"params": {"on": {1, 2}}}, r"on is a text, such as \"float 0 1\", or a list of choices, not \{1, 2\}"),
        ({"direction": "down"}, r"search\(direction=…\)"),
        ({"trials": 0}, r"search\(trials=…\)"),
        ({"job": None}, r"search\(\) needs a command, a job file, or roles"),
        ({"instances": 2, "job": None, "roles": {"worker": Role("true")}}, r"search\(instances=…\) is for a job of"),
        ({"job": lambda: 1}, r"cannot be called as it is"),
    ],
)
def test_what_cannot_be_is_told_by_the_argument(given: Any, message: str) -> None:
    arguments = {"job": "true", "params": LR, "metric": "loss", "direction": "minimize", **given}
    with pytest.raises(JobInvalid, match=message):
        tony_ts.search(**arguments, scheduler="local")


def test_an_argument_that_there_is_not_is_named() -> None:
    misspelt: Any = {"metrics": "loss"}
    with pytest.raises(TypeError, match=r"search\(\) has no argument metrics=: did you mean metric="):
        tony_ts.search("true", LR, **misspelt)


def test_a_result_without_a_name_ends_the_trial_with_what_is_missing() -> None:
    settings = {"tony.search.metric": "loss", "tony.search.direction": "minimize", "tony.search.retry-count": 0}
    job = search(lambda trial: 0.5, LR, trials=1, conf=settings)
    with pytest.raises(JobFailed):
        job.wait()
    [trial] = job.trials()
    assert trial["lines"][-1].endswith("the function returned 0.5: search(metric=…) names what that is")


def test_what_a_program_wrote_is_told_as_it_stands() -> None:
    job = search("echo 'pool.submit(task)' >&2; exit 3", LR, metric="loss", direction="minimize", **GIVES_UP)
    with pytest.raises(JobFailed) as raised:
        job.wait()
    assert "pool.submit(task)" in str(raised.value)
