"""tf-yarn's experiments of TensorFlow, and its servers for a client: with TensorFlow where it is installed."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import tony_ts.client
import tony_ts.tensorflow
from tony_ts.tensorflow import Experiment, KerasExperiment, TaskSpec, evaluator
from tony_ts.tensorflow.experiment import model_dir, run

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


class _Reports:
    """In the place of a task."""

    def __init__(self) -> None:
        self.told: list[Any] = []

    def report(self, step: int | None = None, **metrics: float) -> None:
        self.told.append((step, metrics))


@pytest.fixture
def reports(monkeypatch: pytest.MonkeyPatch) -> _Reports:
    """The time passes only when somebody sleeps."""
    told = _Reports()
    now = [0.0]
    monkeypatch.setattr(evaluator, "task", lambda: told)
    clock = {"monotonic": lambda: now[0], "sleep": lambda seconds: now.append(now.pop() + seconds)}
    monkeypatch.setattr("tony_ts.tensorflow.evaluator.time", SimpleNamespace(**clock))
    return told


class _Estimator:
    model_dir = "/models"
    config = type("", (), {"model_dir": "/models"})

    def __init__(self) -> None:
        self.evaluated: list[Any] = []

    def eval_dir(self, name: str | None) -> str:
        return f"/models/eval_{name}"

    def evaluate(self, input_fn: str, *, steps: int, hooks: object, name: str, checkpoint_path: str) -> dict[str, Any]:
        self.evaluated.append((input_fn, steps, hooks, name, checkpoint_path))
        return {"loss": 0.5, "global_step": 7}


class _Exporter:
    name = "best"

    def __init__(self) -> None:
        self.exported: list[Any] = []

    def export(self, _: object, *words: Any) -> None:
        self.exported.append(words)


@pytest.mark.parametrize("last", [300, None], ids=["to the last step", "until nothing comes any more"])
def test_an_evaluator_alone_goes_through_what_nobody_evaluated(
    last: int | None, reports: _Reports, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = [f"/models/model.ckpt-{step}" for step in (100, 200, 300)]
    event = type("", (), {"step": 100, "summary": type("", (), {"value": ["loss"]})})
    files = type("", (), {"exists": lambda _: True, "listdir": lambda _: ["events.out.1", "other"]})
    train = type(
        "",
        (),
        {
            "get_checkpoint_state": lambda _: type("", (), {"all_model_checkpoint_paths": state}),
            "summary_iterator": lambda place: [event] if place == "/models/eval_test/events.out.1" else [],
        },
    )
    parts = {"io": type("", (), {"gfile": files}), "train": train, "compat": type("", (), {})}
    parts["compat"].v1 = type("", (), {"train": train})  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "tensorflow", type("", (), parts))
    estimator, exporter = _Estimator(), _Exporter()
    training = type("", (), {"max_steps": last})
    evaluation = type(
        "",
        (),
        {
            **{"name": "test", "input_fn": "rows", "steps": 9, "hooks": None, "exporters": [exporter]},
            **{"start_delay_secs": 120, "throttle_secs": 600},
        },
    )
    evaluator.run(lambda: Experiment(estimator, training, evaluation))
    assert estimator.evaluated == [("rows", 9, None, "test", path) for path in state[1:]]
    exported = [(place, path, is_last) for place, path, _, is_last in exporter.exported]
    assert exported == [("/models/best", path, last is not None and "300" in path) for path in state[1:]]
    assert reports.told == [(200, {"loss": 0.5}), (300, {"loss": 0.5})]
    assert model_dir(lambda: Experiment(estimator, training, evaluation)) == "/models"


def test_a_keras_evaluator_alone_ends_when_nothing_comes_any_more(
    reports: _Reports, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = type("", (), {"evaluate": lambda data, **_: {"loss": 0.25} if data == "validation" else {}})
    models = type("", (), {"load_model": lambda _: model})
    files = type("", (), {"exists": lambda _: True, "listdir": lambda _: ["1.keras", "train/"]})
    parts = {"io": type("", (), {"gfile": files}), "keras": type("", (), {"models": models})}
    monkeypatch.setitem(sys.modules, "tensorflow", type("", (), parts))
    evaluator.run(lambda: keras_experiment(_Model()))
    assert reports.told == [(None, {"loss": 0.25})]
    assert model_dir(lambda: keras_experiment(_Model())) == "models"
    with pytest.raises(TypeError, match="not str"):
        evaluator.run(lambda: "neither")


def neither() -> str:
    return "neither"


def test_what_tf_yarn_names_evaluates_in_a_job_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, Any] = {}
    monkeypatch.setattr(tony_ts.client, "submit", lambda **arguments: asked.update(arguments))
    monkeypatch.setattr(tony_ts.client, "_metrics_at_end", lambda job: job)
    specs = {"evaluator": TaskSpec(256, 1), "tensorboard": TaskSpec(256, 1)}
    for package in ("tf_yarn", "tony_ts"):
        module = f"{package}.tensorflow.tasks.evaluator_task"
        tony_ts.tensorflow.run_on_yarn(neither, specs, pyenv_zip_path="a.pex", custom_task_module=module)
        assert asked["roles"]["evaluator"].command.func is evaluator.run
    # It shows what the experiment writes.
    log_dir, _ = asked["roles"]["tensorboard"].command.args
    assert log_dir.args == (neither,)
    with pytest.raises(tony_ts.JobInvalid, match="needs a chief or workers"):
        tony_ts.tensorflow.run_on_yarn(neither, specs, pyenv_zip_path="a.pex")


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
