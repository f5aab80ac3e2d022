"""The operator with Airflow's base classes as documented; with Airflow itself where it is installed."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, Iterator

import pytest
from conftest import ROOT

import tony_ts

SOURCE = str(ROOT / "python" / "airflow" / "src")


class Deferred(Exception):
    def __init__(self, trigger: Any, method_name: str) -> None:
        super().__init__(method_name)
        self.trigger = trigger


class FailException(Exception): ...


class Operator:
    def __init__(self, *, task_id: str) -> None:
        self.task_id = task_id

    def defer(self, *, trigger: Any, method_name: str) -> None:
        raise Deferred(trigger, method_name)


@pytest.fixture
def airflow(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    event = type("TriggerEvent", (), {"__init__": lambda self, payload: setattr(self, "payload", payload)})
    modules: dict[str, dict[str, Any]] = {
        "airflow": {},
        "airflow.sdk": {"BaseOperator": Operator},
        "airflow.sdk.exceptions": {"AirflowFailException": FailException},
        "airflow.triggers": {},
        "airflow.triggers.base": {"BaseTrigger": type("BaseTrigger", (), {}), "TriggerEvent": event},
    }
    for name, parts in modules.items():
        module = ModuleType(name)
        vars(module).update(parts)
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.syspath_prepend(SOURCE)
    yield import_module("tony_ts_airflow")
    del sys.modules["tony_ts_airflow"]


CONTEXT = {"ti": SimpleNamespace(dag_id="d", task_id="t", run_id="r 1", map_index=-1, try_number=1)}
ONE = {"scheduler": "local", "memory": "256m"}


def test_it_waits_in_the_triggerer(airflow: Any) -> None:
    operator = airflow.TonyOperator(task_id="t", job="sleep 1", arguments=ONE, poll_interval=0.2)
    with pytest.raises(Deferred, match="execute_complete") as deferred:
        operator.execute(CONTEXT)
    path, arguments = deferred.value.trigger.serialize()
    assert path == "tony_ts_airflow.TonyTrigger"

    async def fired() -> list[Any]:
        trigger = airflow.TonyTrigger(**json.loads(json.dumps(arguments)))
        return [event.payload async for event in trigger.run()]

    [event] = asyncio.run(fired())
    assert operator.execute_complete(CONTEXT, event) == arguments["application_id"]


def test_it_waits_itself_and_fails_as_the_job_does(airflow: Any) -> None:
    operator = airflow.TonyOperator(task_id="t", job="echo no >&2; exit 3", arguments=ONE, deferrable=False)
    with pytest.raises(tony_ts.JobFailed, match="exited 3"):
        operator.execute(CONTEXT)


def test_a_job_that_somebody_ended_is_not_tried_again(airflow: Any) -> None:
    operator = airflow.TonyOperator(task_id="t", job="sleep 600", arguments=ONE)
    with pytest.raises(Deferred) as deferred:
        operator.execute(CONTEXT)
    operator.on_kill()
    with pytest.raises(FailException, match="its Airflow task was ended"):
        operator.execute_complete(CONTEXT, {"application_id": deferred.value.trigger.application_id})
    asyncio.run(deferred.value.trigger.on_kill())


def test_each_try_has_a_tag(airflow: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    submitted: list[dict[str, Any]] = []

    def submit(_job: object, **arguments: Any) -> Any:
        submitted.append(arguments)
        return SimpleNamespace(id="application_1_0001")

    monkeypatch.setattr(airflow, "submit", submit)
    operator = airflow.TonyOperator(task_id="t", job="true", arguments={"instances": 2})
    for changes in ({}, {}, {"try_number": 2}, {"map_index": 3}):
        with pytest.raises(Deferred):
            operator.execute({"ti": SimpleNamespace(**{**vars(CONTEXT["ti"]), **changes})})
    first, again, second, other = (one["application_tag"] for one in submitted)
    assert first == again
    assert len({first, second, other}) == 3
    assert all(tag.isascii() and len(tag) < 100 for tag in (first, second))
    assert submitted[0]["instances"] == 2


DAG = """
import os
from airflow.sdk import DAG
from tony_ts_airflow import TonyOperator

with DAG("trains", schedule=None) as dag:
    given = {"scheduler": "local", "memory": "{{ '256m' }}"}
    trains = TonyOperator(task_id="trains", job="echo {{ dag.dag_id }}; sleep 1", arguments=given, poll_interval=0.2)
    fails = TonyOperator(task_id="fails", job="exit 3", arguments=given, deferrable=False)
    trains >> fails

if __name__ == "__main__":
    run = dag.test()
    print(sorted((task.task_id, str(task.state)) for task in run.get_task_instances()))
"""


def _is_installed(name: str) -> bool:
    try:
        version(name)
    except PackageNotFoundError:
        return False
    return True


@pytest.mark.skipif(not _is_installed("apache-airflow-core"), reason="not installed: apache-airflow")
def test_a_real_airflow_runs_it(tmp_path: Path) -> None:
    home = tmp_path / "airflow"
    environment = {
        **os.environ,
        "AIRFLOW_HOME": str(home),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "PYTHONPATH": f"{SOURCE}:{os.environ['PYTHONPATH']}",
    }
    folder = home / "dags"
    folder.mkdir(parents=True)
    (folder / "trains.py").write_text(DAG)
    for words in (["-m", "airflow", "db", "migrate"], [str(folder / "trains.py")]):
        done = subprocess.run([sys.executable, *words], env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    assert "[('fails', 'failed'), ('trains', 'success')]" in done.stdout, done.stdout + done.stderr
