"""Runs a function in every process of a job's tasks."""

from __future__ import annotations

from typing import Any

from .. import client
from ..client import ExperimentFn
from ..errors import told_plainly
from ..metrics import Metrics
from ..topologies import TaskSpec


@told_plainly
def run_on_yarn(experiment_fn: ExperimentFn, task_specs: dict[str, TaskSpec], **kwargs: Any) -> Metrics | None:
    """As ``tony_ts.client.run_on_yarn``. The function gets the process's number in its container."""
    kwargs.setdefault("custom_task_module", "tf_yarn.distributed.task")
    return client.run_on_yarn(experiment_fn, task_specs, **kwargs)
