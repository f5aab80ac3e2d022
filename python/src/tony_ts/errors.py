"""What can go wrong. Every error says what happened and how to mend it, and has a ``code`` that stays the same."""

from __future__ import annotations

import functools
import inspect
import os
import traceback
from typing import Any, Callable, TypeVar, cast

from .shapes import Cause, ErrorWords, JobOutcome, JobStatus

_HERE = os.path.join(os.path.dirname(__file__), "")

_Called = TypeVar("_Called", bound=Callable[..., Any])


class TonyError(Exception):
    """The base of all errors here."""

    #: For programs, as ``tony-ts --json`` prints it: ``NO_CLUSTER``. The message may change, the code does not.
    code: str
    #: Whether the same call may succeed later, unchanged.
    retryable: bool

    # Defaults, so that an error survives pickle: unpickling makes it from its message alone, then sets its attributes.
    def __init__(self, message: str, *, code: str = "INTERNAL", retryable: bool = False) -> None:
        super().__init__(message)
        self.code = code
        self.retryable = retryable

    def _render_traceback_(self) -> list[str]:
        """What a notebook shows: the frames of its own programs, without those of this package and IPython."""
        frames = traceback.extract_tb(self.__traceback__)
        own = [frame for frame in frames if not (_HERE in frame.filename or "/IPython/" in frame.filename)]
        kind = type(self)
        return [*traceback.format_list(own), f"{kind.__module__}.{kind.__qualname__}: {self}"]


def told_plainly(called: _Called) -> _Called:
    """Errors show people the place of their call, without the frames of this package."""
    if inspect.iscoroutinefunction(called):

        @functools.wraps(called)
        async def awaited(*arguments: Any, **named: Any) -> Any:
            try:
                return await called(*arguments, **named)
            except TonyError as error:
                raise error.with_traceback(None) from None

        return cast(_Called, awaited)

    @functools.wraps(called)
    def plain(*arguments: Any, **named: Any) -> Any:
        try:
            return called(*arguments, **named)
        except TonyError as error:
            raise error.with_traceback(None) from None

    return cast(_Called, plain)


class JobInvalid(TonyError, ValueError):
    """Invalid arguments or job file: the message lists everything that is wrong, one per line."""


class NoNode(TonyError):
    """There is no Node to run tony-ts with, or it is too old."""


class NoCluster(TonyError):
    """No cluster is configured."""


class ClusterError(TonyError):
    """The cluster refuses, or cannot be reached."""


class JobNotFound(TonyError, LookupError):
    """No job has that id."""


class WaitTimeout(TonyError, TimeoutError):
    """The job had not ended in time. It goes on."""


class JobFailed(TonyError):
    """
    The job did not succeed. The message has the cause, the failed task's own last lines (a Python program's
    traceback), and what you can do.
    """

    #: ``application_…`` or ``local_…``
    id: str
    outcome: JobOutcome
    #: Everything known of the job and its tasks.
    report: JobStatus | None

    @property
    def cause(self) -> Cause | None:
        """Which task failed, where and how."""
        return self.outcome.get("cause")

    @property
    def task(self) -> str | None:
        """The task that failed first: ``worker:1``."""
        return self.cause.get("task") if self.cause else None

    @property
    def traceback(self) -> str:
        """That task's last lines, in Python its traceback; empty where it printed nothing."""
        return "\n".join(self.cause["lines"]) if self.cause else ""


class JobKilled(JobFailed):
    """Somebody or something ended the job: its ``outcome`` says who."""


def job_failed(job_id: str, outcome: JobOutcome, report: JobStatus | None, told: Callable[[str], str]) -> JobFailed:
    """The error for an outcome that is not ``succeeded``. ``told`` puts places into the caller's words."""
    killed = outcome["result"] == "killed"
    kind = JobKilled if killed else JobFailed
    error = kind(told(_words(job_id, outcome)), code="JOB_KILLED" if killed else "JOB_FAILED")
    error.id, error.outcome, error.report = job_id, outcome, report
    return error


def _words(job_id: str, outcome: JobOutcome) -> str:
    parts = [f"{job_id} {outcome['result']}: {outcome['summary']}"]
    cause = outcome.get("cause")
    if cause is not None:
        if cause["lines"]:
            place = " on ".join(part for part in (cause.get("task"), cause.get("host")) if part)
            parts += ["", f"{place or 'The task'}:", *(f"  {line}" for line in cause["lines"])]
        if "remedy" in cause:
            parts += ["", f"To mend it: {_in_python(cause['remedy'])}"]
    return "\n".join(parts)


#: Remedies in the command line's words, and the same in arguments of ``submit()``.
_IN_PYTHON = (
    (
        "tony-ts submit job.xml --scheduler local (a search: tony-ts search job.xml --scheduler local)",
        'submit(…, scheduler="local")',
    ),
    ("tony.execution.envs", "env={…}"),
    ("--python_venv", "python_venv="),
    ("--src_dir", "src_dir="),
)


def _in_python(remedy: str) -> str:
    for option, argument in _IN_PYTHON:
        remedy = remedy.replace(option, argument)
    return remedy


_CLASSES = {
    "JOB_INVALID": JobInvalid,
    "USAGE": JobInvalid,
    "NO_CLUSTER": NoCluster,
    "APPLICATION_NOT_FOUND": JobNotFound,
}


def not_in_time(job_id: str, timeout: float, stands: str) -> WaitTimeout:
    """:param stands: how it was last seen; empty where it was not"""
    last = f" ({stands})" if stands else ""
    message = f"{job_id} had not ended after {timeout:g} s{last}. It goes on: wait() again, or end it with kill()"
    return WaitTimeout(message, code="WAIT_TIMEOUT", retryable=True)


def error_of(words: ErrorWords, exit_code: int) -> TonyError:
    """An error that the command line printed, as one of those above."""
    kind = _CLASSES.get(words["code"], ClusterError if exit_code == 3 else TonyError)
    message = _in_python(words["message"]) if kind is NoCluster else words["message"]
    return kind(message, code=words["code"], retryable=words.get("retryable", False))
