"""A job of a Hadoop YARN cluster as a task of Airflow."""

from __future__ import annotations

import asyncio
import hashlib
from importlib import import_module
from typing import TYPE_CHECKING, Any, AsyncIterator, Mapping, Sequence

from tony_ts import AsyncJob, Job, JobKilled, TonyError, submit

if TYPE_CHECKING:
    from typing import NoReturn

    class _Operator:
        def __init__(self, **kwargs: Any) -> None: ...
        def defer(self, *, trigger: object, method_name: str) -> NoReturn: ...

    class _Trigger:
        def __init__(self) -> None: ...

    class _Event:
        def __init__(self, payload: object) -> None: ...

    class _NoRetry(Exception): ...
else:
    _triggers = import_module("airflow.triggers.base")
    _Trigger, _Event = _triggers.BaseTrigger, _triggers.TriggerEvent
    try:
        _Operator = import_module("airflow.sdk").BaseOperator
        _NoRetry = import_module("airflow.sdk.exceptions").AirflowFailException
    except ModuleNotFoundError:
        # Before Airflow 3.
        _Operator = import_module("airflow.models").BaseOperator
        _NoRetry = import_module("airflow.exceptions").AirflowFailException

_ENDED = ("succeeded", "failed", "killed")


class TonyOperator(_Operator):
    """
    Submits a job, and succeeds when it has. What it returns is the job's id.

    Each try of the task is one job: a try whose worker was lost finds its own again by the job's YARN tag. A job that
    somebody ended is not tried again. Whoever clears or ends the task ends the job.

    :param job: as ``tony_ts.submit()`` has it
    :param arguments: its others: ``{"instances": 4, "memory": "8g"}``
    :param deferrable: wait in Airflow's triggerer, without a worker
    :param poll_interval: in seconds, between two looks at the job there
    """

    template_fields: Sequence[str] = ("job", "arguments")

    def __init__(
        self,
        *,
        job: Any = None,
        arguments: Mapping[str, Any] | None = None,
        deferrable: bool = True,
        poll_interval: float = 30,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.job = job
        self.arguments = arguments or {}
        self.deferrable = deferrable
        self.poll_interval = poll_interval
        self._submitted: str | None = None

    def execute(self, context: Mapping[str, Any]) -> str:
        # YARN alone has tags.
        on_yarn = self.arguments.get("scheduler", "yarn") == "yarn"
        arguments: dict[str, Any] = {"application_tag": _tag_of(context["ti"])} if on_yarn else {}
        job = submit(self.job, **{**arguments, **self.arguments})
        self._submitted = job.id
        if self.deferrable:
            self.defer(trigger=TonyTrigger(job.id, self.poll_interval), method_name="execute_complete")
        return _succeeded(job.id)

    def execute_complete(self, context: Mapping[str, Any], event: Mapping[str, Any]) -> str:
        return _succeeded(event["application_id"])

    def on_kill(self) -> None:
        if self._submitted is not None:
            Job(self._submitted).kill("its Airflow task was ended")


class TonyTrigger(_Trigger):
    """Fires when the job has ended."""

    def __init__(self, application_id: str, poll_interval: float) -> None:
        super().__init__()
        self.application_id = application_id
        self.poll_interval = poll_interval

    def serialize(self) -> tuple[str, dict[str, Any]]:
        arguments = {"application_id": self.application_id, "poll_interval": self.poll_interval}
        return f"{type(self).__module__}.{type(self).__qualname__}", arguments

    async def run(self) -> AsyncIterator[_Event]:
        job = AsyncJob(self.application_id)
        while not await _has_ended(job):
            await asyncio.sleep(self.poll_interval)
        yield _Event({"application_id": job.id})

    async def on_kill(self) -> None:
        """The task was cleared or marked while it waited here; Airflow 3.3 and later say so."""
        await AsyncJob(self.application_id).kill("its Airflow task was ended")


async def _has_ended(job: AsyncJob) -> bool:
    try:
        return await job.state() in _ENDED
    except TonyError as error:
        if error.retryable:
            return False
        raise


def _succeeded(job_id: str) -> str:
    try:
        Job(job_id).wait()
    except JobKilled as killed:
        raise _NoRetry(str(killed)) from killed
    return job_id


def _tag_of(task_instance: Any) -> str:
    """One for each try of the task in its run."""
    parts = ("dag_id", "task_id", "run_id", "map_index", "try_number")
    name = "\0".join(str(getattr(task_instance, part)) for part in parts)
    return f"airflow-{hashlib.sha256(name.encode()).hexdigest()[:32]}"
