"""What people see when something is wrong: one error each, with the mend."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import tony_ts
import tony_ts.errors
import tony_ts.program
from tony_ts import Job, JobInvalid, JobNotFound, NoCluster, NoNode, Role, TonyError


def test_an_argument_that_there_is_not_names_the_nearest() -> None:
    wrong: Any = {"memroy": "2g"}
    with pytest.raises(TypeError, match=r"submit\(\) has no argument memroy=: did you mean memory=\?"):
        tony_ts.submit("true", **wrong)
    other: Any = {"tony_worker_node_label": "gpu"}
    with pytest.raises(TypeError, match=r"keys of a job go into conf=\{…\}"):
        tony_ts.submit("true", **other)


def test_a_wrong_value_is_named_by_its_argument() -> None:
    with pytest.raises(JobInvalid) as raised:
        tony_ts.submit("true", memory="two", gpus=-1, scheduler="local")
    memory, gpus = str(raised.value).splitlines()
    assert memory.startswith("submit(memory=…): tony.worker.memory must be a whole amount such as 2g or 512m")
    assert gpus.startswith("submit(gpus=…): tony.worker.gpus must be ")
    assert (raised.value.code, raised.value.retryable) == ("JOB_INVALID", False)
    assert isinstance(raised.value, ValueError)


def test_a_key_that_there_is_not_names_the_nearest() -> None:
    with pytest.raises(
        JobInvalid, match=r"submit\(conf=…\): tony\.worker\.memoryy .* did you mean tony\.worker\.memory"
    ):
        tony_ts.submit("true", conf={"tony.worker.memoryy": "2g"}, scheduler="local")


def test_a_warning_is_told_in_the_callers_words(caplog: pytest.LogCaptureFixture) -> None:
    Path("train.py").touch()
    tony_ts.submit("python3 train.py", memory="256m", scheduler="local").kill()
    [warning] = [record.message for record in caplog.records if record.levelname == "WARNING"]
    assert warning.startswith("submit(command=…): warning: tony.worker.command runs train.py, but ")


def test_a_wrong_job_file_says_where() -> None:
    Path("job.xml").write_text("<configuration><property><name>x</name></configuration>")
    with pytest.raises(JobInvalid, match=r"job\.xml"):
        tony_ts.submit("job.xml", scheduler="local")
    with pytest.raises(JobInvalid, match=r"none\.xml does not exist"):
        tony_ts.submit("none.xml", scheduler="local")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "needs a command, a job file, or roles"),
        ({"job": []}, "a command is a text or a list of texts"),
        ({"job": "true", "files": "train.py"}, r"write files=\['train\.py'\]"),
        ({"roles": {"worker": Role("true", files="train.py")}}, r"write files=\['train\.py'\]"),
        ({"roles": {"worker": Role("true")}, "memory": "2g"}, r"with roles, write Role\(memory=…\)"),
        ({"job": "echo \0"}, "control character"),
    ],
)
def test_arguments_that_do_not_go_together(arguments: Any, message: str) -> None:
    with pytest.raises(JobInvalid, match=message):
        tony_ts.submit(**arguments)


def test_no_cluster_says_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HADOOP_CONF_DIR")
    with pytest.raises(NoCluster, match="HADOOP_CONF_DIR") as raised:
        tony_ts.submit("true")
    assert str(raised.value).endswith('Or run the job on this machine alone: submit(…, scheduler="local")')
    assert raised.value.code == "NO_CLUSTER"


def test_what_to_do_is_told_as_arguments() -> None:
    cause: Any = {
        "reason": {},
        "class": "program",
        "lines": ["--python_venv"],
        "remedy": "add A=1 to tony.execution.envs",
    }
    outcome: Any = {"result": "failed", "summary": "it failed", "cause": cause}
    said = str(tony_ts.errors.job_failed("local_1_0001", outcome, None, str))
    assert said.splitlines()[-1] == "To mend it: add A=1 to env={…}"
    assert "  --python_venv" in said.splitlines()


def test_an_id_that_is_none_or_nobodys() -> None:
    with pytest.raises(JobInvalid, match="application_1795305600000_0001"):
        Job("job-1").state  # noqa: B018
    with pytest.raises(JobNotFound):
        Job("local_1795305600000_0001").wait()
    with pytest.raises(JobNotFound):
        Job("local_1795305600000_0001").kill()


def test_no_node_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr("tony_ts.program._packaged_node", lambda: None)
    with pytest.raises(NoNode, match=r'pip install "tony_ts\[node\]"'):
        tony_ts.submit("true")


def test_an_old_node_is_not_taken(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    node = tmp_path / "node"
    node.write_text("#!/bin/sh\necho v18.20.8\n")
    node.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin")
    monkeypatch.setattr("tony_ts.program._packaged_node", lambda: None)
    with pytest.raises(NoNode, match=r"node is Node 18\.20\.8, and tony-ts needs Node 20\.19 or newer"):
        tony_ts.submit("true")


def test_tony_ts_names_the_program(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TONY_TS", str(tmp_path / "none.cjs"))
    with pytest.raises(TonyError, match=r"TONY_TS names .*none\.cjs, which does not exist"):
        tony_ts.submit("true")
    program = tmp_path / "tony-ts"
    program.write_text("#!/bin/sh\necho no such thing >&2\nexit 9\n")
    program.chmod(0o755)
    monkeypatch.setenv("TONY_TS", str(program))
    with pytest.raises(TonyError, match=r"ended with 9 before its result:\nno such thing") as raised:
        tony_ts.submit("true")
    assert raised.value.code == "PROGRAM_ENDED"
    program.write_text("#!/bin/sh\necho '{\"jsonVersion\":2}'\n")
    with pytest.raises(TonyError, match="use those of one release"):
        tony_ts.submit("true")


def test_the_command_line_is_the_same_program() -> None:
    words = [sys.executable, "-m", "tony_ts", "keys", "--json"]
    assert b'"tony.application.name"' in subprocess.run(words, stdout=subprocess.PIPE, check=True).stdout


def test_it_is_shown_where_it_was_called_and_not_how_it_came_about() -> None:
    """What is ours of a traceback is the one line that every error leaves by."""
    Path("program.py").write_text(
        """
import asyncio
import sys
import traceback

import tony_ts
from tony_ts.client import RunFailed, run_on_yarn
from tony_ts.topologies import TaskSpec

def fails():
    raise ValueError("no such column: price")

task = {"worker": TaskSpec("256 MiB", vcores=1)}
for call in (
    lambda: tony_ts.submit("true"),
    lambda: asyncio.run(tony_ts.asubmit("true")),
    lambda: tony_ts.Job("local_1795305600000_0001").wait(),
    lambda: tony_ts.Job("local_1795305600000_0001").state,
    lambda: tony_ts.package("nowhere"),
    lambda: run_on_yarn(fails, task, env={"PYTHON": sys.executable}, scheduler="local"),
):
    try:
        call()
    except tony_ts.TonyError as error:
        frames = traceback.extract_tb(error.__traceback__)
        print(error.code, sum("/tony_ts/" in frame.filename for frame in frames), frames[-1].name)
"""
    )
    said = subprocess.run([sys.executable, "program.py"], stdout=subprocess.PIPE, check=True).stdout.decode()
    assert said.splitlines() == [
        "NO_CLUSTER 1 plain",
        "NO_CLUSTER 1 awaited",
        "APPLICATION_NOT_FOUND 1 plain",
        "APPLICATION_NOT_FOUND 1 plain",
        "JOB_INVALID 1 plain",
        "JOB_FAILED 1 plain",
    ]


def test_in_a_task_whose_environment_has_no_node_that_of_its_executor_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    with subprocess.Popen(["node", "-e", "setTimeout(() => {}, 60_000)"]) as executor:
        monkeypatch.setenv("TONY_API", f"/proc/{executor.pid}/cwd/tony-api-1/socket")
        monkeypatch.setenv("PATH", "")
        monkeypatch.setattr("tony_ts.program._packaged_node", lambda: None)
        assert tony_ts.program.command()[0] == f"/proc/{executor.pid}/exe"
        executor.kill()
