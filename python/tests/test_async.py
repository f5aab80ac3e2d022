"""The same jobs, awaited."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import os
import subprocess
from typing import Any

import pytest

import tony_ts
from tony_ts import AsyncJob, Job, JobFailed, JobInvalid, JobKilled, TonyError, WaitTimeout


async def asubmit(command: Any = None, **arguments: Any) -> AsyncJob:
    return await tony_ts.asubmit(command, scheduler="local", **arguments)


def test_jobs_at_once_in_one_loop() -> None:
    async def one(index: int) -> list[str]:
        job = await asubmit(f"echo {index}", memory="256m")
        assert (await job.wait())["result"] == "succeeded"
        assert await job.state() == "succeeded"
        assert await job.url() is None
        return [str(line) async for line in job.logs()]

    async def all_of_them() -> list[list[str]]:
        return await asyncio.gather(*(one(index) for index in range(2)))

    assert asyncio.run(all_of_them()) == [[f"worker:0 | {index}"] for index in range(2)]


def test_a_failed_job_raises_the_tasks_own_last_lines() -> None:
    async def run() -> None:
        await (await asubmit("echo no such column >&2; exit 3", memory="512m")).wait()

    with pytest.raises(JobFailed) as raised:
        asyncio.run(run())
    assert raised.value.traceback == "no such column"
    assert raised.value.report is not None
    assert raised.value.report["state"] == "failed"


def test_wrong_values_are_named_by_their_arguments() -> None:
    with pytest.raises(JobInvalid, match=r"^submit\(memory=…\): "):
        asyncio.run(asubmit("true", memory="two"))
    with pytest.raises(TypeError, match=r"asubmit\(\) has no argument memroy="):
        asyncio.run(asubmit("true", memroy="2g"))


def test_a_cancelled_wait_leaves_the_job_and_one_that_is_over_says_so() -> None:
    async def run() -> AsyncJob:
        job = await asubmit("sleep 600", memory="512m")
        with pytest.raises(WaitTimeout, match=r"after 3 s \(\w+: worker [01] of 1 run"):
            await job.wait(timeout=3)
        waiting = asyncio.ensure_future(job.wait())
        await asyncio.sleep(0.5)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        return job

    job = asyncio.run(run())
    assert Job(job.id).state not in ("succeeded", "failed", "killed")
    # A job belongs to no loop.
    asyncio.run(job.kill("enough"))
    with pytest.raises(JobKilled, match="enough"):
        asyncio.run(job.wait())


def test_a_cancelled_submission_leaves_nothing() -> None:
    async def run() -> None:
        for seconds in (0.05, 0.5, 1.0):
            submitting = asyncio.ensure_future(asubmit("sleep 600", memory="512m"))
            await asyncio.sleep(seconds)
            submitting.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await (await submitting).kill()

    asyncio.run(run())
    words = ["node", os.environ["TONY_TS"], "list", "--scheduler", "local", "--json"]
    assert b'"jobs": []' in subprocess.run(words, stdout=subprocess.PIPE, check=True).stdout


def test_events_belong_to_their_loop() -> None:
    job = asyncio.run(asubmit("sleep 600", memory="512m"))

    async def begin() -> Any:
        async with job.events() as events:
            assert (await events.__anext__())["event"] == "job"
        return events

    left = asyncio.run(begin())
    assert asyncio.run(_read(left)) == []
    # Another loop is refused.
    loop = asyncio.new_event_loop()
    events = job.events()
    loop.run_until_complete(events.__anext__())
    with pytest.raises(TonyError, match="call the job's method again") as raised:
        asyncio.run(_read(events))
    assert raised.value.code == "EVENT_LOOP"
    loop.run_until_complete(events.aclose())
    loop.close()

    async def end() -> list[str]:
        async with job.events() as events:
            await events.__anext__()
            await job.kill()
            return [event["event"] async for event in events]

    assert asyncio.run(end())[-1] == "end"


async def _read(events: Any) -> list[str]:
    return [event["event"] async for event in events]


def test_both_forms_take_the_same_and_do_the_same() -> None:
    assert inspect.signature(tony_ts.submit).parameters == inspect.signature(tony_ts.asubmit).parameters
    names = [{name for name in vars(kind) if not name.startswith("_")} for kind in (Job, AsyncJob)]
    assert names[0] == names[1]
