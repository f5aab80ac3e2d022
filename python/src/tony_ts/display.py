"""A job as a person sees it: in a notebook one display that changes, elsewhere lines."""

from __future__ import annotations

import logging
import sys
import uuid
from html import escape
from typing import Any, Iterator, Protocol, Sequence

from .shapes import Event, JobOutcome, JobStatus, TaskStatus

#: How many tasks are listed, failed ones first; the rest is given as a number.
_MOST_TASKS = 16


class _Publisher(Protocol):
    def publish(self, data: dict[str, str], *, transient: dict[str, str], update: bool) -> None: ...


class Progress:
    """Shows the progress of a job, and what it prints, to somebody who waits for it."""

    def __init__(self, job_id: str) -> None:
        self._id = job_id
        self._publisher = _publisher()
        self._display = {"display_id": uuid.uuid4().hex}
        self._said = ""
        self._status: JobStatus | None = None

    def see(self, event: Event) -> None:
        if event["event"] == "output":
            print(event["line"], flush=True, file=sys.stdout if event["stream"] == "stdout" else sys.stderr)
        elif event["event"] == "waiting":
            self._say(f"waits: {event['reason']}")
        elif event["event"] == "status":
            self._status = event["status"]
            self._say(in_a_line(event["status"]))
        elif event["event"] == "end" and event["outcome"] is not None:
            outcome = event["outcome"]
            if self._status is not None:
                self._status = ended(self._status, outcome)
            self._say(f"{outcome['result']}: {outcome['summary']}")

    def leave(self) -> None:
        """Tells a person who interrupts that the job goes on, and how to come back to it."""
        self._say(f"goes on: follow it again with {again(self._id)}.wait(progress=True), end it with .kill()")

    def _say(self, said: str) -> None:
        said = f"{self._id} {said}"
        is_first, is_new = self._said == "", self._said != said
        self._said = said
        if self._publisher is not None:
            # The text above, and the error, say how it ended.
            html = text_html(said) + ("" if self._status is None else "".join(_parts(self._status)))
            data = {"text/plain": said, "text/html": html}
            self._publisher.publish(data, transient=self._display, update=not is_first)
        elif is_new:
            print(said, file=sys.stderr, flush=True)


class ProgressLog:
    """Logs the progress of a job: its tasks, restarts and waits with their reasons, and its end."""

    def __init__(self, job_id: str, logger: logging.Logger) -> None:
        self._id = job_id
        self._logger = logger
        #: The last message by subject: only changes are logged.
        self._said: dict[str, str] = {}

    def see(self, event: Event) -> None:
        if event["event"] == "waiting":
            self._say("waits", f"waits: {event['reason']}")
        elif event["event"] == "status":
            self._see_status(event["status"])
        elif event["event"] == "end" and event["outcome"] is not None:
            self._say("state", f"{event['outcome']['result']}: {event['outcome']['summary']}")

    def _see_status(self, status: JobStatus) -> None:
        for one in status["generations"]:
            if "endedBy" in one and one["generation"] < status["generation"]:
                number = one["generation"]
                self._say(
                    f"generation {number}", f"starts again after generation {number}: {one['endedBy']['summary']}"
                )
        self._say("state", in_a_line(status))
        waits = (f"waits for {': '.join([wait['what'], *wait['reasons']])}" for wait in status["waits"])
        self._say("waits", "; ".join(waits))

    def _say(self, about: str, said: str) -> None:
        if said and said != self._said.get(about):
            self._logger.info("%s %s", self._id, said)
        self._said[about] = said


def ended(status: JobStatus, outcome: JobOutcome) -> JobStatus:
    """
    The final status, made from the last one, which was sent shortly before the end: a job that has ended waits for
    nothing.
    """
    return {**status, "state": outcome["result"], "outcome": outcome, "waits": []}


def again(job_id: str) -> str:
    """What a program writes to get at a job again."""
    return f'tony_ts.Job("{job_id}")'


def _publisher() -> _Publisher | None:
    """A kernel's publisher, for the cell that runs. On a terminal, IPython cannot change what it has shown."""
    ipython: Any = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    publisher: _Publisher | None = getattr(shell, "display_pub", None) if hasattr(shell, "kernel") else None
    return publisher


def in_a_line(status: JobStatus) -> str:
    """``running: worker 3 of 4 run``, why it was restarted, and what it waits for."""
    if "outcome" in status:
        return f"{status['state']}: {status['outcome']['summary']}"
    if status["state"] in ("succeeded", "failed", "killed"):
        return status["state"]
    roles = (f"{role['name']} {role['running']} of {role['instances']} run" for role in status["roles"])
    return "; ".join([f"{status['state']}: {', '.join(roles)}", *_restarts(status), *waits(status)])


def _restarts(status: JobStatus) -> Iterator[str]:
    """The last restart."""
    before = [one["endedBy"] for one in status["generations"][:-1] if "endedBy" in one]
    if before:
        yield f"restarted (generation {status['generation']}): {before[-1]['summary']}"


def waits(status: JobStatus) -> Sequence[str]:
    """What it waits for, why that takes time, and what helps."""
    return [
        "; ".join(
            [
                f"waits for {': '.join([wait['what'], *wait['reasons']])}",
                *([wait["remedy"]] if "remedy" in wait else []),
            ]
        )
        for wait in status["waits"]
    ]


def text_html(text: str) -> str:
    return f"<div>{escape(text)}</div>"


def job_html(status: JobStatus) -> str:
    """Text from a program or a cluster is always escaped."""
    return "".join([*_parts(status), *(_ending(status["outcome"]) if "outcome" in status else [])])


def _parts(status: JobStatus) -> Iterator[str]:
    yield f"<div><b>{escape(status['name'])}</b> {escape(status['applicationId'])}: {escape(status['state'])}</div>"
    yield from map(text_html, waits(status))
    for service in status["services"]:
        yield f"<div>{escape(service['name'])}: {_link(service['url'])}</div>"
    yield _table(("task", "state", "node", "step", "metrics", "exit"), map(_row, _first(status["tasks"])))
    left = len(status["tasks"]) - _MOST_TASKS
    if left > 0:
        yield text_html(f"and {left} more")


def _ending(outcome: JobOutcome) -> Iterator[str]:
    yield text_html(outcome["summary"])
    cause = outcome.get("cause")
    if cause is not None and cause["lines"]:
        lines = "\n".join(cause["lines"])
        yield f"<pre>{escape(lines)}</pre>"


def _first(tasks: Sequence[TaskStatus]) -> Sequence[TaskStatus]:
    return sorted(tasks, key=lambda task: task["state"] not in ("failed", "lost"))[:_MOST_TASKS]


def _row(task: TaskStatus) -> Sequence[str]:
    metrics = ", ".join(f"{name} {value:.4g}" for name, value in task.get("metrics", {}).items())
    return task["task"], task["state"], task.get("host", ""), str(task.get("step", "")), metrics, task.get("exit", "")


def _table(heads: Sequence[str], rows: Iterator[Sequence[str]]) -> str:
    head = "".join(f"<th>{escape(text)}</th>" for text in heads)
    body = "".join(f"<tr>{''.join(f'<td>{escape(text)}</td>' for text in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _link(url: str) -> str:
    """A program's address must not run code in the reader's page."""
    if not url.startswith(("http://", "https://")):
        return escape(url)
    return f'<a href="{escape(url)}" rel="noreferrer" target="_blank">{escape(url)}</a>'
