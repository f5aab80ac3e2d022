"""What a notebook shows, by a real kernel: jobs run on this machine."""

from __future__ import annotations

import html.parser
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Iterator, NamedTuple

import pytest

from tony_ts import Job
from tony_ts.display import ended, in_a_line, job_html
from tony_ts.shapes import Cause, JobStatus

#: Sends cells to a kernel, and prints what it answers: what Jupyter's client warns of is not ours.
NOTEBOOK = """
import json, sys
from jupyter_client.manager import start_new_kernel

manager, client = start_new_kernel(kernel_name="python3")
try:
    for line in sys.stdin:
        asked = json.loads(line)
        messages = []
        def heard(message):
            kind, content = message["header"]["msg_type"], message["content"]
            messages.append([kind, content])
            if kind == "stream" and asked["interrupt"] in content["text"]:
                asked["interrupt"] = "\\0"
                manager.interrupt_kernel()
        client.execute_interactive(asked["code"], output_hook=heard, timeout=120)
        print(json.dumps(messages), flush=True)
finally:
    client.stop_channels()
    manager.shutdown_kernel(now=True)
"""


class Cell(NamedTuple):
    """What one cell came to."""

    messages: list[tuple[str, dict[str, Any]]]

    def of(self, *kinds: str) -> list[dict[str, Any]]:
        return [content for kind, content in self.messages if kind in kinds]

    @property
    def printed(self) -> str:
        return "".join(content["text"] for content in self.of("stream"))

    @property
    def error(self) -> str:
        [content] = self.of("error")
        return "\n".join(content["traceback"])


class Kernel:
    def __init__(self, folder: Path) -> None:
        env = {**os.environ, "IPYTHONDIR": str(folder / "ipython")}
        self._notebook = subprocess.Popen(
            [sys.executable, "-c", NOTEBOOK], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env
        )

    def run(self, code: str, *, interrupt: str = "\0") -> Cell:
        """:param interrupt: as soon as these words are in what it says"""
        assert self._notebook.stdin is not None
        assert self._notebook.stdout is not None
        self._notebook.stdin.write(json.dumps({"code": code, "interrupt": interrupt}) + "\n")
        self._notebook.stdin.flush()
        return Cell(json.loads(self._notebook.stdout.readline()))

    def close(self) -> None:
        self._notebook.communicate(timeout=60)


@pytest.fixture
def kernel(tmp_path: Path) -> Iterator[Kernel]:
    started = Kernel(tmp_path)
    started.run("%load_ext tony_ts")
    yield started
    started.close()


OPTIONS = f"--scheduler local --memory 256m --env PYTHON={sys.executable}"


def test_cells_run_as_jobs_in_one_display(kernel: Kernel) -> None:
    ran = kernel.run(f"%%tony {OPTIONS} --instances 2 -o job\nimport tony_ts\nprint('I am', tony_ts.task().name)")
    assert ran.of("error") == []
    assert ran.printed == "I am worker:0\n"
    shown = ran.of("display_data", "update_display_data")
    assert len(ran.of("display_data")) == 1
    assert len({content["transient"]["display_id"] for content in shown}) == 1
    assert "succeeded: " in shown[-1]["data"]["text/plain"]
    assert "<td>worker:1</td><td>succeeded</td>" in shown[-1]["data"]["text/html"]
    [result] = kernel.run("job").of("execute_result")
    assert "<td>worker:1</td><td>succeeded</td>" in result["data"]["text/html"]

    failed = kernel.run(f"%%tony {OPTIONS}\n\nraise ValueError('no such column: price')")
    # The line of the magic is the first.
    assert 'cell.py", line 3, in <module>' in failed.error
    assert "ValueError: no such column: price" in failed.error
    # Its program has printed the traceback, and the error has it.
    shown = failed.of("display_data", "update_display_data")[-1]["data"]["text/html"]
    assert "no such column: price" in shown
    assert "Traceback" not in shown
    assert "tony_ts/job.py" not in failed.error
    wrong = kernel.run("%%tony --instnaces 2\npass").error
    assert wrong.endswith(
        "tony_ts.JobInvalid: %%tony: unrecognized arguments: --instnaces 2. %%tony? says what there is"
    )


def test_an_interrupt_leaves_the_job_and_another_kernel_goes_on_with_it(kernel: Kernel, tmp_path: Path) -> None:
    go = tmp_path / "go"
    program = f"import os, time\nprint('begun', flush=True)\nwhile not os.path.exists('{go}'):\n    time.sleep(0.1)"
    left = kernel.run(f"%%tony {OPTIONS} -o job\n{program}", interrupt="begun")
    [error] = left.of("error")
    assert error["ename"] == "KeyboardInterrupt"
    assert [*map(len, error["traceback"])] == [len(f"KeyboardInterrupt: {error['evalue']}")]
    said = left.of("update_display_data")[-1]["data"]["text/plain"]
    again = kernel.run("print(repr(job))").printed.strip().replace("'", '"')
    assert f"goes on: follow it again with tony_ts.{again}.wait(progress=True), end it with .kill()" in said

    other = Kernel(tmp_path)
    go.touch()
    ended = other.run(f"import tony_ts\njob = tony_ts.{again}\njob.wait(progress=True)['result']")
    assert ended.of("execute_result")[0]["data"]["text/plain"] == "'succeeded'"
    other.close()


class _Tags(html.parser.HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.seen: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen |= {tag, *(name for name, _ in attrs)}


HOSTILE = "<script>alert(1)</script><img src=x onerror='a()'>\"'&</pre>"


def hostile(text: str) -> JobStatus:
    return {
        "statusVersion": 1,
        "applicationId": "application_1_0001",
        "attempt": 1,
        "name": text,
        "queue": text,
        "state": "failed",
        "generation": 1,
        "startedAtMs": 0,
        "nowMs": 0,
        "amHost": text,
        "roles": [],
        "tasks": [
            {"task": f"worker:{n}", "state": "failed", "restarts": 0, "host": text, "exit": text, "metrics": {text: 1}}
            for n in range(20)
        ],
        "waits": [{"reason": {}, "cause": text, "what": text, "sinceMs": 0, "delays": [], "reasons": [text]}],
        "generations": [],
        "budgets": {"program": {"used": 0, "limit": 0}, "infrastructure": {"used": 0, "limit": 0}},
        "services": [
            {"name": text, "url": f'javascript:alert("{text}")', "task": text},
            {"name": text, "url": f"http://node7/{text}", "task": text},
        ],
        "usage": {"memoryMiBSeconds": 0, "vcoreSeconds": 0},
        "outcome": {
            "result": "failed",
            "summary": text,
            "reason": {},
            "endedAtMs": 0,
            "cause": {
                "class": "program",
                "reason": {},
                "summary": text,
                "atMs": 0,
                "lines": [text],
                "consequences": [],
                "followed": [],
            },
        },
    }


def test_nothing_that_a_job_says_is_markup() -> None:
    tags = _Tags()
    shown = job_html(hostile(HOSTILE))
    tags.feed(shown)
    known = {"div", "b", "a", "href", "rel", "target", "table", "thead", "tbody", "tr", "th", "td", "pre"}
    assert tags.seen == known
    assert 'href="javascript' not in shown
    assert "and 4 more" in shown


def test_a_line_says_why_it_was_restarted_and_what_it_waits_for() -> None:
    status = hostile("a container")
    del status["outcome"]
    cause: Cause = {
        "class": "program",
        "reason": {},
        "summary": "worker:1 exited 1",
        "atMs": 0,
        "lines": [],
        "consequences": [],
        "followed": [],
    }
    running: JobStatus = {**status, "state": "gathering", "generation": 2}
    running["generations"] = [
        {"generation": 1, "startedAtMs": 0, "endedBy": cause},
        {"generation": 2, "startedAtMs": 9},
    ]
    [wait] = running["waits"]
    running["waits"] = [{**wait, "reasons": ["the queue is full"], "remedy": "use another one"}]
    assert in_a_line(running) == (
        "gathering: ; restarted (generation 2): worker:1 exited 1; "
        "waits for a container: the queue is full; use another one"
    )
    assert in_a_line({**running, "state": "succeeded"}) == "succeeded"
    assert in_a_line(hostile("all exited 0")) == "failed: all exited 0"


def test_a_job_that_has_ended_waits_for_nothing() -> None:
    status = hostile("the end")
    assert "waits for the end" in job_html(status)
    assert "waits for" not in job_html(ended(status, status["outcome"]))


def test_a_job_that_cannot_be_asked_is_shown_with_the_reason() -> None:
    assert "no-such" not in Job("local_1_0001")._repr_html_()
    assert "local_1_0001" in Job("local_1_0001")._repr_html_()
