"""tf-yarn's ``tensorflow``: experiments of Estimators and of Keras."""

from __future__ import annotations

from ..client import RunFailed, get_safe_experiment_fn
from ..metrics import Metrics
from ..topologies import NodeLabel, TaskSpec, ps_strategy_topology, single_server_topology
from .client import run_on_yarn, standalone_client_mode
from .experiment import Experiment, KerasExperiment

__all__ = [
    "Experiment",
    "KerasExperiment",
    "Metrics",
    "NodeLabel",
    "RunFailed",
    "TaskSpec",
    "get_safe_experiment_fn",
    "ps_strategy_topology",
    "run_on_yarn",
    "single_server_topology",
    "standalone_client_mode",
]
