"""
Runs distributed training on a Hadoop YARN cluster.

    import tony_ts

    job = tony_ts.submit("python train.py", instances=4, memory="8g", gpus=1, files=["train.py"])
    job.wait()
"""

from __future__ import annotations

from .async_job import AsyncJob, asubmit
from .errors import (
    ClusterError,
    JobFailed,
    JobInvalid,
    JobKilled,
    JobNotFound,
    NoCluster,
    NoNode,
    TonyError,
    WaitTimeout,
)
from .in_task import Advice, Change, ConditionFailed, Entry, KeyValues, NotInATask, Task, TaskError, task
from .job import Job, LogLine
from .request import Role
from .submission import submit

__all__ = [
    "Advice",
    "AsyncJob",
    "Change",
    "ClusterError",
    "ConditionFailed",
    "Entry",
    "Job",
    "JobFailed",
    "JobInvalid",
    "JobKilled",
    "JobNotFound",
    "KeyValues",
    "LogLine",
    "NoCluster",
    "NoNode",
    "NotInATask",
    "Role",
    "Task",
    "TaskError",
    "TonyError",
    "WaitTimeout",
    "asubmit",
    "submit",
    "task",
]

# Tracebacks call them as programs do.
for _name in __all__:
    globals()[_name].__module__ = __name__
