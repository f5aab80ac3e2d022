"""Skein's names, with jobs of this machine."""

from __future__ import annotations

import sys
from pathlib import Path

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


def test_what_cannot_be_is_said_before_anything_is_submitted() -> None:
    resources = {"memory": "lots", "vcores": 1}
    with pytest.raises(JobInvalid, match="lots"):
        skein.Client(scheduler="local").submit({"services": {"idle": {"resources": resources, "script": "true"}}})
