"""The searches that the guide shows are run, on this machine; so is the study of Optuna that one of them replaces."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT
from test_documents import programs, run

import tony_ts
from tony_ts.functions import package_zip

GUIDE = ROOT / "docs" / "guide"
SEARCH = (GUIDE / "search.md").read_text(encoding="utf-8")
COMING = (GUIDE / "coming-from-search.md").read_text(encoding="utf-8")
PYTHON = (GUIDE / "python.md").read_text(encoding="utf-8")
Json = Any

#: Its programs find this package in the wheel that is sent along, as the guide says.
WHEEL = "tony_ts-0.1.0-py3-none-any.whl"
OF_PYTHON = """<configuration>
<property><name>tony.application.framework</name><value>generic</value></property>
<property><name>tony.worker.instances</name><value>1</value></property>
<property><name>tony.worker.memory</name><value>256m</value></property>
<property><name>tony.worker.command</name><value>python3 train.py</value></property>
<property><name>tony.containers.resources</name><value>train.py,WHEEL</value></property>
<property><name>tony.execution.envs</name><value>PYTHONPATH=WHEEL</value></property>
<property><name>tony.search.param.lr</name><value>float 0.01 0.1 log</value></property>
<property><name>tony.search.param.optimizer</name><value>choice adam sgd</value></property>
<property><name>tony.search.param.momentum</name><value>float 0 0.9 when optimizer=sgd</value></property>
<property><name>tony.search.metric</name><value>loss</value></property>
<property><name>tony.search.direction</name><value>minimize</value></property>
<property><name>tony.search.points</name><value>lr=0.1 optimizer=sgd momentum=0.5; lr=0.05 optimizer=adam
</value></property>
<property><name>tony.search.max-trials</name><value>2</value></property>
</configuration>
""".replace("WHEEL", WHEEL)

#: What trial 0 does at the end of an epoch, when it has reported its checkpoint.
FAILS_ONCE = """    if epoch == 9 and first == 1 and os.environ["TONY_TRIAL_NUMBER"] == "0":
        raise SystemExit(1)
"""


def section(page: str, heading: str) -> str:
    [found] = re.findall(rf"^##+ {heading}\n(.*?)(?=^##|\Z)", page, re.DOTALL | re.MULTILINE)
    return str(found)


def job_files(page: str) -> list[str]:
    return re.findall(r"^```xml\n(.*?)^```", page, re.DOTALL | re.MULTILINE)


@pytest.fixture(autouse=True)
def _on_this_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """``tony-ts`` as one has it after the package's installation, with a home of its own, and without a cluster."""
    folder = tmp_path / "bin"
    folder.mkdir()
    words = 'verb=$1; shift; test "$verb" = search && set -- --scheduler local "$@"'
    (folder / "tony-ts").write_text(f'#!/bin/sh\n{words}\nexec {sys.executable} -m tony_ts "$verb" "$@"\n')
    (folder / "tony-ts").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{Path(sys.executable).parent}:{os.environ['PATH']}")
    monkeypatch.setenv("HOME", str(tmp_path))


def typed(line: str) -> str:
    done = subprocess.run(line, shell=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
    assert done.returncode == 0, done.stdout
    return done.stdout


def searched(line: str) -> tuple[str, list[Json]]:
    """The id of a search that somebody types, and its trials by their numbers."""
    [found] = set(re.findall(r"local_\d+_\d+", typed(line)))
    trials: list[Json] = json.loads(typed(f"tony-ts trials {found} --json"))["trials"]
    return found, sorted(trials, key=lambda trial: int(trial["number"]))


def test_the_lines_that_make_a_job_a_search_pass_every_parameter_on() -> None:
    [lines, *_] = job_files(SEARCH)
    worker = "".join(
        f"<property><name>{name}</name><value>{value}</value></property>\n"
        for name, value in {
            "tony.application.framework": "generic",
            "tony.worker.instances": "1",
            "tony.containers.resources": "train.py",
        }.items()
    )
    Path("train.py").write_text("")
    Path("job.xml").write_text(f"<configuration>\n{worker}{lines}</configuration>\n")
    assert "maximize accuracy" in typed("tony-ts validate --strict job.xml")
    assert re.findall(r"\{\{param\.(\w+)\}\}", lines) == re.findall(r"tony\.search\.param\.(\w+)", lines)


def test_the_study_of_optuna_and_the_search_that_takes_its_place() -> None:
    shown = section(COMING, "Optuna")
    model, study, train = programs(shown)
    [job] = job_files(shown)
    for name, text in {"model.py": model, "study.py": study, "train.py": train, "job.xml": job}.items():
        Path(name).write_text(text)
    told = typed("python3 study.py").splitlines()[-1]
    best, _, value = told.rpartition(" ")
    assert ast.literal_eval(best).keys() >= {"lr", "batch", "optimizer"}

    _, trials = searched("tony-ts search job.xml")
    assert len(trials) == 12
    assert {trial["state"] for trial in trials} <= {"completed", "stopped"}
    # Both try this first.
    assert trials[0]["params"] == {"lr": 0.01, "batch": 4, "optimizer": "sgd", "momentum": 0.9}
    assert trials[0]["step"] == 20
    assert float(value) <= trials[0]["value"] + 1e-12
    for trial in trials:
        assert ("momentum" in trial["params"]) == (trial["params"]["optimizer"] == "sgd")


def test_the_search_for_who_comes_from_ray_tune_goes_on_from_checkpoints() -> None:
    shown = section(COMING, "Ray Tune")
    [train] = programs(shown)
    [job] = job_files(shown)
    Path("job.xml").write_text(job)
    Path("train.py").write_text(f"{train}{FAILS_ONCE}print('from', first)\n")
    found, trials = searched("tony-ts search job.xml -conf tony.search.stop=none -conf tony.search.max-trials=4")
    assert typed(f"tony-ts logs {found} trial:0").endswith("\nfrom 10\n")
    assert [trial["state"] for trial in trials] == ["completed"] * 4
    assert len({trial["checkpoint"] for trial in trials}) == 4
    for trial in trials:
        weight = 0.0
        for _ in range(27 * trial["params"]["batches"]):
            weight -= trial["params"]["lr"] * (weight - 3)
        assert trial["value"] == pytest.approx((weight - 3) ** 2)
    Path("train.py").write_text(train)
    _, trials = searched("tony-ts search job.xml")
    assert len(trials) == 12
    assert {trial["state"] for trial in trials} <= {"completed", "stopped"}


def test_a_trial_in_python() -> None:
    [train] = programs(section(PYTHON, "In a trial of a search"))
    Path("train.py").write_text(train)
    Path(WHEEL).write_bytes(package_zip())
    Path("job.xml").write_text(OF_PYTHON)
    found, trials = searched("tony-ts search job.xml")
    assert trials[0]["value"] == pytest.approx(0.85**10)
    assert typed(f"tony-ts logs {found} trial:0") == "trial 0: lr 0.1, sgd, momentum 0.5\n"
    assert typed(f"tony-ts logs {found} trial:1") == "trial 1: lr 0.05, adam, momentum 0\n"


def test_a_search_that_a_program_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    search = tony_ts.search
    local = {"scheduler": "local", "trials": 4}
    monkeypatch.setattr(tony_ts, "search", lambda *given, **named: search(*given, **{**named, **local}))
    [program] = programs(section(PYTHON, "A search"))
    names: dict[str, Any] = {"tony_ts": tony_ts}
    told = run(program, names)
    job, best = names["job"], names["best"]
    assert told == f"{best['params']} {best['value']}\n"
    assert len(job.trials()) == 4
    assert best["value"] == pytest.approx(names["objective"](tony_ts.Trial(0, best["params"])))
    result = json.loads((Path(os.environ["XDG_STATE_HOME"]) / "tony-ts" / "local" / job.id / "result.json").read_text())
    assert result["best"]["params"] == best["params"]


def test_the_job_file_of_a_search_is_not_submitted() -> None:
    Path("train.py").write_text("")
    Path(WHEEL).write_bytes(package_zip())
    Path("job.xml").write_text(OF_PYTHON)
    with pytest.raises(tony_ts.TonyError, match="tony-ts search"):
        tony_ts.submit("job.xml", scheduler="local")
