"""What an experiment of TensorFlow is, and what each of a job's tasks does for it."""

from __future__ import annotations

import json
import os
from importlib import import_module
from typing import Any, Callable, NamedTuple

from ..experiments import number_the_try


class Experiment(NamedTuple):
    """For ``tf.estimator.train_and_evaluate``, which TensorFlow has up to 2.15."""

    #: A ``tf.estimator.Estimator``.
    estimator: Any
    #: A ``tf.estimator.TrainSpec``.
    train_spec: Any
    #: A ``tf.estimator.EvalSpec``.
    eval_spec: Any

    @property
    def config(self) -> Any:
        return self.estimator.config


class KerasExperiment(NamedTuple):
    """One task trains by ``model.fit``; an evaluator beside it evaluates each checkpoint in ``model_dir``."""

    #: A compiled ``keras.Model``.
    model: Any
    #: Where the callbacks of ``train_params`` save checkpoints, as files ``.keras`` or ``.h5``, or folders.
    model_dir: str
    #: Arguments of ``fit``.
    train_params: dict[str, Any]
    #: Return ``x`` and ``y`` of ``fit``.
    input_data_fn: Callable[[], Any] | None
    target_data_fn: Callable[[], Any] | None
    #: Returns the data of ``evaluate``.
    validation_data_fn: Callable[[], Any]


def run(experiment_fn: Callable[[], Any]) -> None:
    """Runs in a task."""
    number_the_try()
    experiment = experiment_fn()
    if isinstance(experiment, Experiment):
        tf: Any = import_module("tensorflow")
        tf.estimator.train_and_evaluate(*experiment)
    elif isinstance(experiment, KerasExperiment):
        _run_keras(experiment, json.loads(os.environ["TF_CONFIG"]))
    else:
        message = f"experiment_fn returns an Experiment or a KerasExperiment, not {type(experiment).__name__}"
        raise TypeError(message)


def _run_keras(experiment: KerasExperiment, config: dict[str, Any]) -> None:
    roles = config["cluster"]
    if "ps" in roles or sum(len(roles.get(role, ())) for role in ("chief", "worker")) > 1:
        message = "A KerasExperiment trains in one task: give run_on_yarn of tony_ts.client a function for several"
        raise ValueError(message)
    if config["task"]["type"] == "evaluator":
        from .evaluator import beside_training

        beside_training(experiment)
        return
    data = {"x": experiment.input_data_fn, "y": experiment.target_data_fn}
    given = {name: read() for name, read in data.items() if read is not None}
    experiment.model.fit(**{**experiment.train_params, **given})


def model_dir(experiment_fn: Callable[[], Any]) -> str:
    """Where it keeps checkpoints, and what a TensorBoard shows."""
    experiment = experiment_fn()
    return str(experiment.config.model_dir if isinstance(experiment, Experiment) else experiment.model_dir)
