"""A job that was submitted."""

from __future__ import annotations

import queue
import threading
import time
from typing import Iterator, NamedTuple, Sequence, cast

from .display import Progress, ended, in_a_line, job_html, text_html
from .errors import TonyError, error_of, job_failed, not_in_time, told_plainly
from .process import Events, Printed, run
from .request import NO_FILE, Origin
from .shapes import Event, JobOutcome, JobState, JobStatus, TrialJson
from .waits import Heard, listening


class LogLine(NamedTuple):
    """A line that a task wrote. As text it is ``worker:0 | the line``."""

    task: str
    line: str
    #: ``stdout`` or ``stderr``
    stream: str

    def __str__(self) -> str:
        return f"{self.task} | {self.line}"


class Job:
    """
    A job of the cluster or of this machine. ``submit()`` makes one; ``Job("application_…")`` is one that was submitted
    earlier or elsewhere. It runs by itself: when this process ends, or stops waiting, the job goes on.

    Several threads may use one, and so may forked processes.
    """

    def __init__(self, id: str, *, _origin: Origin = NO_FILE) -> None:
        self._id = id
        self._origin = _origin
        self._end: End | None = None

    @property
    def id(self) -> str:
        """``application_…``, or ``local_…``"""
        return self._id

    @property
    @told_plainly
    def state(self) -> JobState:
        """
        Its present state: ``running``, for example, and in the end ``succeeded``, ``failed`` or ``killed``. Asks the
        cluster.
        """
        return self._end.outcome["result"] if self._end else self.report["state"]

    @property
    @told_plainly
    def report(self) -> JobStatus:
        """Everything known now of it and of its tasks. Asks the cluster."""
        return report_in(run(status_words(self._id)))

    @property
    @told_plainly
    def url(self) -> str | None:
        """Its page in YARN; a job of this machine has none. Asks the cluster."""
        return url_in(run(status_words(self._id)))

    @told_plainly
    def wait(self, timeout: float | None = None, *, progress: bool = False) -> JobOutcome:
        """
        Waits until the job ends, and returns its outcome if it succeeded. Ctrl-C leaves the job running.

        :param timeout: in seconds
        :param progress: show its progress, and what its lead task prints
        :raises JobFailed: it failed, with the cause and the failed task's traceback; ``JobKilled``: somebody ended it
        :raises WaitTimeout: it has not ended; it goes on
        """
        if self._end is None:
            self._end = self._follow(timeout) if progress else self._await(timeout)
        return self._end.success(self._id, self._origin)

    def events(self, logs: str | None = None) -> Events:
        """
        The last lines that were printed, and everything that happens to the job from now on, up to the event ``end``.
        For a job that has ended ``logs()`` has the lines.

        :param logs: whose output: ``none``, ``all``, ``worker:1``, ``worker``; default the lead task's
        """
        return Events(event_words(self._id, logs))

    def logs(self, task: str | None = None, *, follow: bool = False) -> Iterator[LogLine]:
        """
        What its tasks printed.

        :param task: ``worker:0``, ``worker``, or ``am`` for its ApplicationMaster's own log; default the lead task
        :param follow: go on as the log grows, until the job ends
        """
        with Events(log_words(self._id, task, follow)) as events:
            for event in events:
                yield from log_lines(event)

    @told_plainly
    def trials(self) -> list[TrialJson]:
        """
        Of a search: all that have begun. The best come first, those that run behind those that have ended, and those
        that failed last.
        """
        return trials_in(run(trials_words(self._id)))

    @told_plainly
    def best(self) -> TrialJson | None:
        """Of a search: the best trial that has ended with a value; ``best()["params"]`` are its parameters."""
        return best_in(run(trials_words(self._id)))

    @told_plainly
    def kill(self, reason: str | None = None) -> None:
        """
        Ends it in order: programs stop, checkpoints are saved, containers are returned. A job that has ended is not
        changed.

        :param reason: shown to those who look at the job later
        """
        check_killed(run(kill_words(self._id, reason)))

    def _await(self, timeout: float | None) -> End:
        reading = Reading()
        inbox: queue.SimpleQueue[Heard] = queue.SimpleQueue()
        over_at = None if timeout is None else time.monotonic() + timeout
        with listening(self._id, inbox.put):
            while not reading.is_over:
                try:
                    heard = inbox.get(timeout=None if over_at is None else max(over_at - time.monotonic(), 0))
                except queue.Empty:
                    raise not_in_time(self._id, timeout or 0, reading.stands) from None
                reading.hear(heard)
        return reading.end(self._id)

    def _follow(self, timeout: float | None) -> End:
        """The same, and shows the progress."""
        reading = Reading()
        progress = Progress(self._id)
        with Events(event_words(self._id, None)) as events:
            clock = Clock(timeout, events)
            with clock:
                try:
                    for event in events:
                        reading.hear(event)
                        progress.see(event)
                except TonyError:
                    if clock.rang and timeout is not None:
                        raise not_in_time(self._id, timeout, reading.stands) from None
                    raise
                except KeyboardInterrupt:
                    progress.leave()
                    raise
        return reading.end(self._id)

    def __repr__(self) -> str:
        return f"Job({self._id!r})"

    def __eq__(self, other: object) -> bool:
        return self._id == other._id if isinstance(other, Job) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._id)

    def _repr_html_(self) -> str:
        """Its present state, as a notebook shows it."""
        try:
            return job_html(self.report)
        except TonyError as error:
            return text_html(f"{self!r}: {error}")


class Clock:
    """Ends the reading of events when its time is over."""

    def __init__(self, timeout: float | None, events: Events) -> None:
        self.rang = False
        self._events = events
        self._timer = None if timeout is None else threading.Timer(max(timeout, 0), self._ring)

    def _ring(self) -> None:
        self.rang = True
        self._events.kill()

    def __enter__(self) -> None:
        if self._timer is not None:
            self._timer.daemon = True
            self._timer.start()

    def __exit__(self, *_: object) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer.join()


class End(NamedTuple):
    """How a job ended."""

    outcome: JobOutcome
    report: JobStatus | None

    def success(self, job_id: str, origin: Origin) -> JobOutcome:
        """Raises unless it succeeded."""
        if self.outcome["result"] != "succeeded":
            raise job_failed(job_id, self.outcome, self.report, origin.told_later)
        return self.outcome


class Reading:
    """What the events of a job amount to."""

    def __init__(self) -> None:
        self.is_over = False
        self._report: JobStatus | None = None
        self._outcome: JobOutcome | None = None
        #: The state of the job, with what it waits for; empty where nothing was heard.
        self.stands = ""

    def hear(self, heard: Heard) -> None:
        """Raises the reason why nothing more will be heard."""
        if isinstance(heard, TonyError):
            raise heard
        if heard["event"] == "status":
            self._report = heard["status"]
            self.stands = in_a_line(heard["status"])
        elif heard["event"] == "waiting":
            self.stands = f"waits: {heard['reason']}"
        elif heard["event"] == "end":
            if "error" in heard:
                raise error_of(heard["error"], heard["exitCode"])
            self._outcome = heard["outcome"]
            self.is_over = True

    def end(self, job_id: str) -> End:
        if self._outcome is None:
            raise TonyError(f"{job_id} may still run: ask for its state", code="STILL_RUNNING", retryable=True)
        if self._report is None:
            return End(self._outcome, None)
        return End(self._outcome, ended(self._report, self._outcome))


def status_words(job_id: str) -> list[str]:
    return ["status", job_id, "--json"]


def event_words(job_id: str, logs: str | None) -> list[str]:
    return ["attach", job_id, "--json", *([] if logs is None else ["--logs", logs])]


def log_words(job_id: str, task: str | None, follow: bool) -> list[str]:
    return ["logs", job_id, *([] if task is None else [task]), *(["--follow"] if follow else []), "--json"]


def trials_words(job_id: str) -> list[str]:
    return ["trials", job_id, "--json"]


def kill_words(job_id: str, reason: str | None) -> list[str]:
    return ["kill", job_id, "--json", *([] if reason is None else ["--reason", reason])]


def report_in(printed: Printed) -> JobStatus:
    return cast(JobStatus, printed["status"])


def trials_in(printed: Printed) -> list[TrialJson]:
    return cast("list[TrialJson]", printed["trials"])


def best_in(printed: Printed) -> TrialJson | None:
    number = printed.get("best", {}).get("number")
    return next((trial for trial in trials_in(printed) if trial["number"] == number), None)


def url_in(printed: Printed) -> str | None:
    return printed["report"]["trackingUrl"] or None


def log_lines(event: Event) -> Sequence[LogLine]:
    return [LogLine(event["task"], event["line"], event["stream"])] if event["event"] == "output" else []


def check_killed(printed: Printed) -> None:
    """``kill`` reports an error for each job."""
    for job in printed["jobs"]:
        if "error" in job:
            raise error_of(job["error"], 3)
