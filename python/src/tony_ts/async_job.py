"""Jobs in an event loop: job.py and submission.py with ``await``."""

from __future__ import annotations

import asyncio
import contextlib
from typing import AsyncIterator, Literal, Mapping, NoReturn, Sequence

from .async_process import AsyncChild, AsyncEvents, arun, async_turn
from .environments import Path
from .errors import TonyError, not_in_time, told_plainly
from .functions import Function
from .job import (
    End,
    LogLine,
    Reading,
    best_in,
    check_killed,
    event_words,
    kill_words,
    log_lines,
    log_words,
    report_in,
    status_words,
    trials_in,
    trials_words,
    url_in,
)
from .program import command
from .request import NO_FILE, Command, Origin, Role, Value
from .shapes import JobOutcome, JobState, JobStatus, TrialJson
from .submission import WITHDRAWN, in_callers_words, prepare, tell, written
from .waits import Heard, listening


class AsyncJob:
    """
    A ``Job`` whose calls are awaited. ``asubmit()`` makes one; ``AsyncJob("application_…")`` is one that was submitted
    earlier or elsewhere. It is not bound to an event loop.
    """

    def __init__(self, id: str, *, _origin: Origin = NO_FILE) -> None:
        self._id = id
        self._origin = _origin
        self._end: End | None = None

    @property
    def id(self) -> str:
        """``application_…``, or ``local_…``"""
        return self._id

    @told_plainly
    async def state(self) -> JobState:
        """Its present state: ``running``, for example, and in the end ``succeeded``, ``failed`` or ``killed``."""
        return self._end.outcome["result"] if self._end else (await self.report())["state"]

    @told_plainly
    async def report(self) -> JobStatus:
        """Everything known now of it and of its tasks."""
        return report_in(await arun(status_words(self._id)))

    @told_plainly
    async def url(self) -> str | None:
        """Its page in YARN; a job of this machine has none."""
        return url_in(await arun(status_words(self._id)))

    @told_plainly
    async def wait(self, timeout: float | None = None) -> JobOutcome:
        """As ``Job.wait``. When cancelled, it leaves the job running."""
        if self._end is None:
            reading = Reading()
            try:
                self._end = await asyncio.wait_for(self._follow(reading), timeout)
            except asyncio.TimeoutError:
                if timeout is None:
                    raise
                raise not_in_time(self._id, timeout, reading.stands) from None
        return self._end.success(self._id, self._origin)

    def events(self, logs: str | None = None) -> AsyncEvents:
        """As ``Job.events``, for ``async for``."""
        return AsyncEvents(event_words(self._id, logs))

    async def logs(self, task: str | None = None, *, follow: bool = False) -> AsyncIterator[LogLine]:
        """As ``Job.logs``, for ``async for``."""
        async with AsyncEvents(log_words(self._id, task, follow)) as events:
            async for event in events:
                for line in log_lines(event):
                    yield line

    @told_plainly
    async def trials(self) -> list[TrialJson]:
        """As ``Job.trials``."""
        return trials_in(await arun(trials_words(self._id)))

    @told_plainly
    async def best(self) -> TrialJson | None:
        """As ``Job.best``."""
        return best_in(await arun(trials_words(self._id)))

    @told_plainly
    async def kill(self, reason: str | None = None) -> None:
        """As ``Job.kill``."""
        check_killed(await arun(kill_words(self._id, reason)))

    async def _follow(self, reading: Reading) -> End:
        inbox: asyncio.Queue[Heard] = asyncio.Queue()
        loop = asyncio.get_running_loop()

        def tell(heard: Heard) -> None:
            # Nobody waits in a loop that is closed.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(inbox.put_nowait, heard)

        # Finding Node runs a process.
        await loop.run_in_executor(None, command)
        with listening(self._id, tell):
            while not reading.is_over:
                reading.hear(await inbox.get())
        return reading.end(self._id)

    def __repr__(self) -> str:
        return f"AsyncJob({self._id!r})"

    def __eq__(self, other: object) -> bool:
        return self._id == other._id if isinstance(other, AsyncJob) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._id)


@told_plainly
async def asubmit(
    job: Command | Path | Function | None = None,
    *,
    instances: int | None = None,
    memory: int | str | None = None,
    vcores: int | None = None,
    gpus: int | None = None,
    roles: Mapping[str, Role] | None = None,
    framework: str | None = None,
    files: Sequence[Path] = (),
    src_dir: Path | None = None,
    python_venv: Path | None = None,
    env: Mapping[str, str] | None = None,
    secrets: Mapping[str, str] | None = None,
    conf: Mapping[str, Value] | None = None,
    name: str | None = None,
    queue: str | None = None,
    resume_from: str | None = None,
    application_tag: str | None = None,
    scheduler: Literal["yarn", "local"] = "yarn",
    **unknown: NoReturn,
) -> AsyncJob:
    """``submit()`` in an event loop, with the same arguments. When cancelled, it withdraws the submission."""
    prepared = prepare("asubmit", locals())
    with written(prepared) as (words, origin):
        async with async_turn(), AsyncChild(words) as child:
            try:
                printed = await child.result()
            except TonyError as error:
                raise in_callers_words(error, origin) from None
            except BaseException:
                await _withdraw(child)
                raise
            tell(origin.told(await child.errors()))
    return AsyncJob(printed["applicationId"], _origin=origin)


async def _withdraw(child: AsyncChild) -> None:
    """An interrupted caller gets no job: one that was accepted meanwhile is ended."""
    child.interrupt()
    try:
        printed = await child.result()
    except TonyError:
        return
    await arun(kill_words(printed["applicationId"], WITHDRAWN))
