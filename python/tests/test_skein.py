"""Skein's names, with jobs of this machine."""

from __future__ import annotations

import json
import logging
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from conftest import ROOT

from tony_ts import JobInvalid, skein

PROGRAM = """
from tony_ts import skein

app = skein.ApplicationClient.from_current()
print(app.kv.wait("go"), flush=True)
app.kv["answer"] = b"42"
app.kv.wait("read")
"""


def specification() -> skein.ApplicationSpec:
    Path("program.py").write_text(PROGRAM)
    service = skein.Service(
        resources=skein.Resources(memory="256 MiB", vcores=1),
        script=f"{sys.executable} program.py",
        files={"program.py": "program.py"},
        env={"PYTHONPATH": str(ROOT / "python" / "src")},
    )
    return skein.ApplicationSpec(name="with-skein", services={"my_service": service}, max_attempts=2)


def test_an_application_runs_and_shares_a_store_with_its_client() -> None:
    with skein.Client(scheduler="local") as client:
        app = client.submit_and_connect(specification())
        app.kv["go"] = b"now"
        assert app.kv.wait("answer") == b"42"
        app.kv["read"] = b""
        assert app.job.wait()["result"] == "succeeded"
        assert [str(line) for line in app.job.logs("my-service")] == ["my-service:0 | b'now'"]
        [container] = app.get_containers()
        assert (container.id, container.state) == ("my-service_0", "SUCCEEDED")
        report = client.application_report(app.id)
        assert (report.name, report.state, report.final_status) == ("with-skein", "FINISHED", "SUCCEEDED")


def test_a_service_keeps_its_name_whatever_its_role_is_called() -> None:
    services = {
        name: skein.Service(resources=skein.Resources(256, 1), script="sleep 60", max_restarts=0)
        for name in ("ps", "worker")
    }
    with skein.Client(scheduler="local") as client:
        app = client.submit_and_connect(skein.ApplicationSpec(services=services, tags={"nightly"}))
        try:
            assert [one.id for one in app.get_containers()] == ["ps_0", "worker_0"]
            [ps] = app.get_containers(services=["ps"])
            assert (ps.service_name, ps.id) == ("ps", "ps_0")
            while not app.get_containers(services=["worker"], states=["running"]):
                time.sleep(0.1)
            assert app.get_containers(states=["FAILED"]) == []
            with pytest.raises(ValueError, match="there is no state 'BUSY' of a container: WAITING, REQUESTED"):
                app.get_containers(states=["busy"])
            app.kv.put("of-ps", b"1", owner="ps_0")
            pair = app.kv.get("of-ps", return_owner=True)
            assert pair == (b"1", "ps_0")
        finally:
            app.shutdown()


def test_a_specification_is_read_from_a_file_with_paths_that_begin_there(monkeypatch: pytest.MonkeyPatch) -> None:
    given: dict[str, Any] = {
        "name": "read",
        "tags": ["a"],
        "master": {"log_level": "debug", "files": {"log": {"source": "conf/log", "type": "file"}}},
        "services": {"one": {"resources": {"memory": 256, "vcores": 1}, "script": "true", "files": {"x": "x.py"}}},
    }
    Path("specs").mkdir()
    Path("specs/app.json").write_text(json.dumps(given))
    read = skein.ApplicationSpec.from_file("specs/app.json")
    here = Path("specs").absolute()
    assert read.services["one"] == skein.Service(
        skein.Resources(256, 1), "true", files={"x": skein.File(f"{here}/x.py")}
    )
    assert read.master == skein.Master(log_level="debug", files={"log": skein.File(f"{here}/conf/log", type="file")})
    assert skein.ApplicationSpec.from_json(json.dumps(given)) == skein.ApplicationSpec.from_dict(given)
    assert skein.ApplicationSpec.from_dict(read.to_dict()) == read
    assert skein.Service(skein.Resources(256, 1), "true", instances=0).to_dict()["instances"] == 0
    loaded = SimpleNamespace(safe_load=json.loads)
    monkeypatch.setitem(sys.modules, "yaml", loaded)
    assert skein.ApplicationSpec.from_yaml(json.dumps(given)).name == "read"
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(skein.SkeinError, match=r"pip install pyyaml, or give submit\(\) the file's path"):
        skein.ApplicationSpec.from_yaml("name: read")
    with pytest.raises(JobInvalid, match=r"^memry: no field of Skein's Resources"):
        skein.ApplicationSpec.from_dict({"services": {"one": {"script": "", "resources": {"memry": 1}}}})


def test_all_that_is_dropped_is_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    one, two = (skein.Service(skein.Resources(256, 1), "true", depends=depends) for depends in ((), {"one"}))
    skein.Client(scheduler="local").submit(skein.ApplicationSpec(services={"one": one, "two": two}))
    warned = [record.message for record in caplog.records if record.levelno == logging.WARNING]
    assert [message.partition(":")[0] for message in warned] == ["depends"]


def test_skeins_errors_are_ours() -> None:
    with pytest.raises(skein.exceptions.SkeinError):
        skein.Client().application_report("application_1_0001")


def test_what_cannot_be_is_said_before_anything_is_submitted() -> None:
    resources = {"memory": "lots", "vcores": 1}
    with pytest.raises(JobInvalid, match="lots"):
        skein.Client(scheduler="local").submit({"services": {"idle": {"resources": resources, "script": "true"}}})
