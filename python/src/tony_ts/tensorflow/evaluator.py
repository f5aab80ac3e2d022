"""In a task: evaluates the checkpoints of an experiment, beside the tasks that train it or in a job of its own."""

from __future__ import annotations

import os
import time
from importlib import import_module
from typing import Any, Callable

from ..experiments import number_the_try
from ..in_task import task
from ..task_api import TaskError
from .experiment import Experiment, KerasExperiment

#: Between two looks at the folder.
_PAUSE_SECONDS = 5.0
#: When it runs alone, it ends after finding no new checkpoint for this long.
_IDLE_SECONDS = 1_200.0


def run(experiment_fn: Callable[[], Any]) -> None:
    """Alone: for a training that another job runs, or has run."""
    number_the_try()
    experiment = experiment_fn()
    if isinstance(experiment, Experiment):
        _evaluate_estimator(experiment)
    elif isinstance(experiment, KerasExperiment):
        _evaluate_keras(experiment, _is_idle)
    else:
        message = f"experiment_fn returns an Experiment or a KerasExperiment, not {type(experiment).__name__}"
        raise TypeError(message)


def beside_training(experiment: KerasExperiment) -> None:
    """Evaluates each checkpoint once, up to the last one that the training tasks had written when they ended."""
    _evaluate_keras(experiment, _is_trained)


#: Waits for a while, and returns whether the checkpoints found afterwards are the last, given the seconds since one was
#: found.
_IsOver = Callable[[float], bool]


def _is_idle(idle_seconds: float) -> bool:
    time.sleep(_PAUSE_SECONDS)
    return idle_seconds >= _IDLE_SECONDS


def _is_trained(_: float) -> bool:
    try:
        task().wait_for_end(timeout=_PAUSE_SECONDS)
    except TaskError as error:
        if error.code != "ENDS_TIMEOUT":
            raise
        return False
    return True


def _evaluate_keras(experiment: KerasExperiment, is_over: _IsOver) -> None:
    tf: Any = import_module("tensorflow")
    seen: set[str] = set()
    over, found_at = False, time.monotonic()
    while not over:
        over = is_over(time.monotonic() - found_at)
        for name in _checkpoints(tf, experiment.model_dir):
            if name in seen:
                continue
            seen.add(name)
            model = tf.keras.models.load_model(os.path.join(experiment.model_dir, name))
            found = model.evaluate(experiment.validation_data_fn(), return_dict=True, verbose=0)
            print(f"{name}: {', '.join(f'{metric} {value:.4g}' for metric, value in found.items())}", flush=True)
            task().report(**found)
            found_at = time.monotonic()


def _checkpoints(tf: Any, folder: str) -> list[str]:
    if not tf.io.gfile.exists(folder):
        return []
    names = (name.rstrip("/") for name in tf.io.gfile.listdir(folder))
    # Without the files of TensorBoard and of an evaluator.
    return sorted(name for name in names if not name.startswith(("events.", "eval", "train", "validation")))


def _evaluate_estimator(experiment: Experiment) -> None:
    """Evaluates each checkpoint that no earlier evaluation has recorded, up to the last one of the training."""
    tf: Any = import_module("tensorflow")
    estimator, training, evaluation = experiment
    seen = _evaluated(tf, estimator.eval_dir(evaluation.name))
    time.sleep(evaluation.start_delay_secs)
    found_at = time.monotonic()
    while training.max_steps is None or training.max_steps not in seen:
        over = time.monotonic() - found_at >= _IDLE_SECONDS
        state = tf.train.get_checkpoint_state(estimator.model_dir)
        found = {_step(path): path for path in (state.all_model_checkpoint_paths if state else ())}
        for step in sorted(found.keys() - seen):
            _evaluate_checkpoint(experiment, found[step], is_last=step == training.max_steps)
            seen.add(step)
            found_at = time.monotonic()
        if over:
            return
        time.sleep(evaluation.throttle_secs)


def _evaluate_checkpoint(experiment: Experiment, path: str, *, is_last: bool) -> None:
    estimator, _, evaluation = experiment
    found = estimator.evaluate(
        evaluation.input_fn,
        steps=evaluation.steps,
        hooks=evaluation.hooks,
        name=evaluation.name,
        checkpoint_path=path,
    )
    for exporter in evaluation.exporters or ():
        exporter.export(estimator, os.path.join(estimator.model_dir, exporter.name), path, found, is_last)
    measured = {name: float(value) for name, value in found.items() if name != "global_step"}
    task().report(_step(path), **measured)


def _step(path: str) -> int:
    """The step in ``model.ckpt-200``."""
    return int(path.rpartition("-")[2])


def _evaluated(tf: Any, folder: str) -> set[int]:
    if not tf.io.gfile.exists(folder):
        return set()
    written = [name for name in tf.io.gfile.listdir(folder) if name.startswith("events.out")]
    events = (each for name in written for each in tf.compat.v1.train.summary_iterator(os.path.join(folder, name)))
    return {int(event.step) for event in events if event.summary.value}
