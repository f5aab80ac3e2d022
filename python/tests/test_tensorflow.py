"""tf-yarn's experiments of TensorFlow, and its servers for a client: with TensorFlow where it is installed."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import tony_ts.client
import tony_ts.tensorflow
from tony_ts.tensorflow import Experiment, KerasExperiment, TaskSpec
from tony_ts.tensorflow.experiment import run

needs_tensorflow = pytest.mark.skipif(find_spec("tensorflow") is None, reason="not installed: tensorflow")

SETTINGS = """
import os, sys
sys.prefix = sys.base_prefix
ENV = {"PYTHON": sys.executable, "CUDA_VISIBLE_DEVICES": "", "TF_CPP_MIN_LOG_LEVEL": "2"}
"""


def printed(program: str) -> str:
    Path("program.py").write_text(SETTINGS + textwrap.dedent(program))
    env = {
        **os.environ,
        "CUDA_VISIBLE_DEVICES": "",
        "TF_CPP_MIN_LOG_LEVEL": "2",
        "XDG_CACHE_HOME": os.path.abspath("c"),
    }
    done = subprocess.run([sys.executable, "program.py"], capture_output=True, check=False, env=env)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


class _Model:
    def __init__(self) -> None:
        self.fitted: list[dict[str, Any]] = []

    def fit(self, **arguments: Any) -> None:
        self.fitted.append(arguments)


def keras_experiment(model: _Model) -> KerasExperiment:
    return KerasExperiment(model, "models", {"epochs": 2, "x": "taken over"}, lambda: "x", None, lambda: "validation")


def test_a_keras_experiment_is_fitted_where_it_trains(monkeypatch: pytest.MonkeyPatch) -> None:
    model = _Model()
    monkeypatch.setenv("TF_CONFIG", '{"cluster": {"chief": ["a:1"]}, "task": {"type": "chief", "index": 0}}')
    run(lambda: keras_experiment(model))
    assert model.fitted == [{"epochs": 2, "x": "x"}]


@pytest.mark.parametrize("roles", ['{"worker": ["a:1", "b:1"]}', '{"chief": ["a:1"], "ps": ["b:1"]}'])
def test_a_keras_experiment_does_not_train_in_several_tasks(monkeypatch: pytest.MonkeyPatch, roles: str) -> None:
    monkeypatch.setenv("TF_CONFIG", f'{{"cluster": {roles}, "task": {{"type": "worker", "index": 0}}}}')
    with pytest.raises(ValueError, match="trains in one task"):
        run(lambda: keras_experiment(_Model()))


def test_an_experiment_is_trained_and_evaluated_by_tensorflow(monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[Any] = []
    estimators = type("", (), {"train_and_evaluate": staticmethod(lambda *words: called.append(words))})
    monkeypatch.setitem(sys.modules, "tensorflow", type("", (), {"estimator": estimators}))
    experiment = Experiment(type("", (), {"config": "its own"}), "train", "evaluate")
    run(lambda: experiment)
    assert called == [tuple(experiment)]
    assert experiment.config == "its own"
    with pytest.raises(TypeError, match="returns an Experiment or a KerasExperiment, not str"):
        run(lambda: "neither")


@needs_tensorflow
def test_an_evaluator_looks_at_each_checkpoint(tmp_path: Path) -> None:
    said = printed(
        f"""
        import numpy, tony_ts
        from tony_ts.tensorflow import KerasExperiment, TaskSpec, run_on_yarn

        def experiment_fn():
            import keras
            model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
            model.compile(optimizer="sgd", loss="mse", metrics=["mae"])
            rows = numpy.ones((64, 4), dtype="float32"), numpy.ones((64, 1), dtype="float32")
            saves = keras.callbacks.ModelCheckpoint({str(tmp_path)!r} + "/models/{{epoch}}.keras")
            arguments = {{"epochs": 2, "verbose": 0, "callbacks": [saves]}}
            return KerasExperiment(
                model, {str(tmp_path / "models")!r}, arguments, lambda: rows[0], lambda: rows[1],
                lambda: __import__("tensorflow").data.Dataset.from_tensors(rows)
            )

        if __name__ == "__main__":
            specs = {{"chief": TaskSpec("2 GiB", vcores=1), "evaluator": TaskSpec("2 GiB", vcores=1)}}
            metrics = run_on_yarn(experiment_fn, specs, env=ENV, scheduler="local")
            print(*metrics.container_duration)
        """
    )
    assert said == "ContainerKey(type='chief', id=0) ContainerKey(type='evaluator', id=0)\n"
    assert sorted(path.name for path in (tmp_path / "models").iterdir()) == ["1.keras", "2.keras"]
    job = tony_ts.Job(newest_job(tmp_path))
    lines = [line.line for line in job.logs("evaluator")]
    assert [line.partition(":")[0] for line in lines if ".keras: loss" in line] == ["1.keras", "2.keras"]


def newest_job(tmp_path: Path) -> str:
    return max(found.name for found in (tmp_path / "state").rglob("local_*") if found.is_dir())


@needs_tensorflow
def test_servers_work_for_a_client_and_stop_with_it(tmp_path: Path) -> None:
    said = printed(
        """
        import tensorflow as tf
        from tony_ts.tensorflow import TaskSpec, standalone_client_mode

        specs = {"worker": TaskSpec("2 GiB", vcores=1, instances=2), "ps": TaskSpec("2 GiB", vcores=1)}
        with standalone_client_mode(None, specs, env=ENV, scheduler="local") as cluster:
            print({role: cluster.num_tasks(role) for role in sorted(cluster.jobs)})
            resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(cluster, rpc_layer="grpc")
            strategy = tf.distribute.ParameterServerStrategy(resolver)
            coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)
            with strategy.scope():
                total = tf.Variable(0.0)

            @tf.function
            def add():
                total.assign_add(1.0)

            for _ in range(10):
                coordinator.schedule(add)
            coordinator.join()
            print(total.device.split("/")[1], float(total.numpy()))
        """
    )
    assert said == "{'ps': 1, 'worker': 2}\njob:ps 10.0\n"
    report = tony_ts.Job(newest_job(tmp_path)).report
    assert report["state"] == "succeeded"


def test_a_client_has_servers_only_where_there_is_a_worker() -> None:
    with pytest.raises(tony_ts.JobInvalid, match="needs a chief or workers"):  # noqa: SIM117
        with tony_ts.tensorflow.standalone_client_mode(None, {"chief": TaskSpec(256, 1)}):
            pass
