"""
Runs distributed training on a Hadoop YARN cluster.

    import tony_ts

    job = tony_ts.submit("python train.py", instances=4, memory="8g", gpus=1, files=["train.py"])
    job.wait()
"""

from __future__ import annotations

from . import training as training
from .async_job import AsyncJob, asubmit
from .environments import Environment, package
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
from .feed import Batch, Feed, Split, feed
from .in_task import Advice, Change, Entry, KeyValues, Task, TaskEnd, task
from .job import Job, LogLine
from .magic import load_ipython_extension as load_ipython_extension
from .request import Role
from .search import search
from .submission import submit
from .task_api import BadValue, ConditionFailed, NotInATask, TaskError
from .tfrecord import parse_example
from .trial import Trial, trial

__all__ = [
    "Advice",
    "AsyncJob",
    "BadValue",
    "Batch",
    "Change",
    "ClusterError",
    "ConditionFailed",
    "Entry",
    "Environment",
    "Feed",
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
    "Split",
    "Task",
    "TaskEnd",
    "TaskError",
    "TonyError",
    "Trial",
    "WaitTimeout",
    "asubmit",
    "feed",
    "package",
    "parse_example",
    "search",
    "submit",
    "task",
    "trial",
]

# Tracebacks name them as programs do.
for _name in __all__:
    globals()[_name].__module__ = __name__
