"""What README and the guide show is what happens: each program is run, on this machine and with less memory."""

from __future__ import annotations

import contextlib
import dataclasses
import inspect
import io
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT

import tony_ts
import tony_ts.client
from tony_ts import submission

GUIDE = (ROOT / "docs" / "guide" / "python.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")
OF_PYPI = (ROOT / "python" / "README.md").read_text(encoding="utf-8")

#: What the picture of a failure is of.
TRAIN = """import os


def load(column):
    raise ValueError(f"no such column: {column}")


if os.environ["RANK"] == "1":
    load("price")
"""


def programs(page: str) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", page, re.DOTALL | re.MULTILINE)


def in_section(heading: str) -> str:
    return GUIDE.split(f"\n## {heading}\n")[1].split("\n## ")[0]


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    """A laptop has no GPUs, and not the memory and cores of a cluster; what is wrong stays so."""
    submit, asubmit = tony_ts.submit, tony_ts.asubmit

    def smaller(arguments: dict[str, Any]) -> dict[str, Any]:
        given: dict[str, tony_ts.Role] = arguments.get("roles") or {}
        roles = {name: dataclasses.replace(role, memory="256m") for name, role in given.items()}
        memory = arguments.get("memory")
        other = {name: value for name, value in arguments.items() if name not in ("gpus", "roles", "memory")}
        small = {"memory": memory if memory in (None, "two") else "256m", "roles": roles or None, "scheduler": "local"}
        few = {"instances": 2} if arguments.get("instances") else {}
        return {**other, **small, **few}

    monkeypatch.setattr(tony_ts, "submit", lambda *job, **arguments: submit(*job, **smaller(arguments)))
    monkeypatch.setattr(tony_ts, "asubmit", lambda *job, **arguments: asubmit(*job, **smaller(arguments)))


def run(program: str, names: dict[str, Any]) -> str:
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(compile(program, "<shown>", "exec"), names)
    return said.getvalue()


def test_the_first_program_is_the_same_everywhere_it_is_shown_and_succeeds() -> None:
    Path("train.py").write_text("print('trained')\n")
    [program] = {programs(page)[0] for page in (GUIDE, README, OF_PYPI)}
    names: dict[str, Any] = {}
    run(program, names)
    assert names["job"].state == "succeeded"


def test_the_picture_of_a_failure_and_the_same_as_data() -> None:
    Path("train.py").write_text(TRAIN)
    names: dict[str, Any] = {}
    with pytest.raises(tony_ts.JobFailed) as raised:
        run(programs(GUIDE)[0], names)
    shown = [re.findall(r"^```\n(tony_ts\..*?)^```", page, re.DOTALL | re.MULTILINE) for page in (GUIDE, README)]

    def what_stays(text: str) -> str:
        """Ids, hosts and folders are each cluster's own."""
        text = re.sub(r"(application|local)_\d+_\d+(?= )", "ID", text)
        return re.sub(r'"/\S+/train.py"', '"train.py"', re.sub(r" on (node7|127\.0\.0\.1)", " on HOST", text)).strip()

    kind = type(raised.value)
    said = what_stays(f"{kind.__module__}.{kind.__name__}: {raised.value}")
    assert [[what_stays(one) for one in pictures] for pictures in shown] == [[said], [said]]
    told = run(programs(in_section("When it fails"))[0], {"job": names["job"], "tony_ts": tony_ts})
    assert re.match(r"worker:1 program-exited failed\nTraceback [\s\S]*ValueError: no such column: price\n$", told)


def test_roles() -> None:
    Path("train.py").write_text("import os, sys\nprint(os.environ['EPOCHS'], sys.argv[1:])\n")
    Path("serve.py").write_text("print('served')\n")
    names: dict[str, Any] = {"tony_ts": tony_ts}
    assert "2 of 2 tracked tasks exited 0" in run(programs(in_section("What to submit"))[0], names)
    assert str(next(names["job"].logs("worker:1"))) == "worker:1 | 3 ['--rate', '0.1']"


def test_a_function(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    names: dict[str, Any] = {"tony_ts": tony_ts, "__name__": "__main__"}
    run(programs(in_section("A function"))[0], names)
    assert sorted(map(str, names["job"].logs("worker"))) == [
        "worker:0 | task 0 trains at 0.1",
        "worker:1 | task 1 trains at 0.1",
    ]


SAVES = """
import os
from pathlib import Path

def train():
    from tony_ts import task
    if task().resume_from is not None:
        print("goes on from", Path(task().resume_from).read_text())
        return
    model = Path(os.environ["TONY_CHECKPOINT_LOCAL_DIR"], "model")
    model.write_text("step 1")
    task().checkpoint(model, 1)
    raise SystemExit(3)

"""


def test_checkpoints_of_a_function(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    names: dict[str, Any] = {"tony_ts": tony_ts, "__name__": "__main__"}
    there = Path("stored").absolute().as_uri()
    run(SAVES + programs(in_section("In a task"))[1].replace("tony-checkpoints/price", there), names)
    names["job"].wait()
    assert [line.line for line in names["job"].logs()] == ["goes on from step 1"]


def test_an_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("train.py").write_text("import sys; print(sys.prefix)\n")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", "env"], check=True)
    monkeypatch.setattr(sys, "prefix", os.path.abspath("env"))
    names: dict[str, Any] = {"tony_ts": tony_ts}
    run(programs(in_section("An environment"))[0], names)
    assert next(names["job"].logs()).line.endswith("/venv")


def test_the_program_for_who_comes_from_tf_yarn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    monkeypatch.setattr(sys, "prefix", sys.base_prefix)
    page = (ROOT / "docs" / "guide" / "coming-from-tf-yarn.md").read_text(encoding="utf-8")

    def local(**arguments: Any) -> tony_ts.Job:
        return tony_ts.submit(**{**arguments, "queue": None})

    monkeypatch.setattr(tony_ts.client, "submit", local)
    assert run(programs(page)[0], {"__name__": "__main__"}).startswith("trained for 0:00:")


def test_lines_and_events() -> None:
    told = run(programs(in_section("What you get"))[0], {"tony_ts": tony_ts}).splitlines()
    assert told[:2] == ["worker:0 | step 1", "worker:0 | step 2"]
    assert told[-1] in ("finishing", "succeeded")


def test_an_event_loop() -> None:
    assert run(programs(in_section("In an event loop"))[0], {"tony_ts": tony_ts}) == "succeeded\nsucceeded\n"


def test_errors() -> None:
    told = run(programs(in_section("Errors"))[0], {"tony_ts": tony_ts})
    assert told.startswith("JOB_INVALID submit(memory=…): tony.worker.memory must be a whole amount")


def test_the_tables_name_every_argument_attribute_and_error() -> None:
    def named(heading: str) -> set[str]:
        cells = re.findall(r"^\| (`.*?) \| ", in_section(heading), re.MULTILINE)
        return {name for cell in cells for name in re.findall(r"`(?:job\.)?(\w+)[^`]*`", cell)}

    arguments = set(inspect.signature(submission.submit).parameters) - {"job", "unknown"}
    assert named("What to submit") == arguments
    assert named("What you get") == {name for name in vars(tony_ts.Job) if not name.startswith("_")}
    errors = {name for name in tony_ts.__all__ if issubclass_of_error(name)}
    assert named("Errors") | {"JobKilled", "TonyError"} == errors


def issubclass_of_error(name: str) -> bool:
    value = getattr(tony_ts, name)
    return isinstance(value, type) and issubclass(value, tony_ts.TonyError)
