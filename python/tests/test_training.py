"""Frameworks start with what the job knows, and libraries tell it how training goes: their calls as documented."""

from __future__ import annotations

import json
import sys
from importlib import import_module
from types import ModuleType, SimpleNamespace
from typing import Any, Iterator

import pytest

import tony_ts
from tony_ts.training import progress


class _Calls:
    """Records how it and whatever it has are called."""

    def __init__(self, calls: list[tuple[str, tuple[Any, ...], dict[str, Any]]], name: str = "") -> None:
        self._calls, self._name = calls, name

    def __getattr__(self, name: str) -> _Calls:
        return _Calls(self._calls, f"{self._name}.{name}".lstrip("."))

    def __call__(self, *words: Any, **named: Any) -> str:
        self._calls.append((self._name, words, named))
        return self._name


@pytest.fixture
def job(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """What a job was told, and what it answers."""
    told = SimpleNamespace(reports=[], checkpoints=[], advice=tony_ts.Advice("continue"))

    def report(step: int, **metrics: float) -> tony_ts.Advice:
        told.reports.append((step, metrics))
        advice: tony_ts.Advice = told.advice
        return advice

    task = SimpleNamespace(report=report, checkpoint=lambda *words: told.checkpoints.append(words))
    monkeypatch.setenv("TONY_API", "a socket")
    monkeypatch.setattr(progress, "task", lambda: task)
    return told


@pytest.fixture
def libraries(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Modules that have the libraries' base classes alone."""
    base = type("Callback", (), {})
    modules: dict[str, dict[str, Any]] = {
        "keras": {"callbacks": SimpleNamespace(Callback=base)},
        "transformers": {"TrainerCallback": base},
        "pytorch_lightning": {"Callback": base},
        "torch": {},
        "torch.distributed": {"is_available": lambda: False},
    }
    for name, parts in modules.items():
        module = ModuleType(name)
        vars(module).update(parts)
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setitem(sys.modules, "lightning", None)
    names = [f"tony_ts.training.{name}" for name in ("keras", "transformers", "lightning")]
    for name in names:
        sys.modules.pop(name, None)
    yield
    for name in names:
        sys.modules.pop(name, None)


def _callback(library: str, **options: Any) -> Any:
    return import_module(f"tony_ts.training.{library}").TonyCallback(**options)


def test_torch_starts_with_the_process_and_its_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[Any] = []
    distributed = _Calls(calls)
    gpus = SimpleNamespace(
        is_available=lambda: True, device_count=lambda: 2, set_device=lambda gpu: calls.append(("gpu", gpu))
    )
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(cuda=gpus))
    monkeypatch.setitem(sys.modules, "torch.distributed", distributed)
    with pytest.raises(tony_ts.NotInATask, match='submitted with framework="pytorch"'):
        tony_ts.training.init_torch()
    with monkeypatch.context() as of_another:
        of_another.setenv("TONY_API", "/socket")
        with pytest.raises(tony_ts.TaskError, match=r'submit the job with framework="pytorch" ') as raised:
            tony_ts.training.init_torch()
        assert raised.value.code == "OTHER_FRAMEWORK"
    for name, value in {"RANK": "3", "WORLD_SIZE": "4", "LOCAL_RANK": "1", "LOCAL_WORLD_SIZE": "2"}.items():
        monkeypatch.setenv(name, value)
    left: list[Any] = []
    monkeypatch.setattr("atexit.register", lambda *call: left.append(call))
    assert tony_ts.training.init_torch() == (3, 4, 1, 1)
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "3")
    tony_ts.training.init_torch(timeout=9)
    started = "init_process_group"
    assert calls == [
        *[("gpu", 1), (started, ("nccl",), {})],
        *[("gpu", 1), (started, ("gloo",), {"timeout": 9})],
    ]
    # A program may have left the group itself.
    leave, _ = left[0]
    for is_there in (False, True):
        calls.clear()
        leave(
            SimpleNamespace(
                is_initialized=lambda there=is_there: there, destroy_process_group=lambda: calls.append("left")
            )
        )
        assert calls == (["left"] if is_there else [])


def test_jax_starts_with_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[Any] = []
    monkeypatch.setitem(sys.modules, "jax", _Calls(calls))
    given = {
        "JAX_COORDINATOR_ADDRESS": "node7:4000",
        "JAX_NUM_PROCESSES": "4",
        "JAX_PROCESS_ID": "3",
        "LOCAL_RANK": "1",
    }
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    assert tony_ts.training.init_jax() == (3, 4, 1, None)
    arguments = {"coordinator_address": "node7:4000", "num_processes": 4, "process_id": 3}
    assert calls == [("distributed.initialize", (), arguments)]


@pytest.mark.parametrize(
    ("role", "cluster", "strategy"),
    [
        ("worker", {"worker": ["a:1", "b:1"]}, "distribute.MultiWorkerMirroredStrategy"),
        ("worker", {"worker": ["a:1"]}, "distribute.get_strategy"),
        ("evaluator", {"evaluator": ["a:1"], "ps": ["a:2"]}, "distribute.get_strategy"),
        ("chief", {"chief": ["a:1"], "worker": ["b:1"], "ps": ["b:2"]}, "distribute.ParameterServerStrategy"),
    ],
)
def test_tensorflow_has_the_strategy_of_its_roles(
    monkeypatch: pytest.MonkeyPatch, role: str, cluster: dict[str, list[str]], strategy: str
) -> None:
    monkeypatch.setitem(sys.modules, "tensorflow", _Calls([]))
    monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": cluster, "task": {"type": role, "index": 0}}))
    assert tony_ts.training.tensorflow_strategy() == strategy


@pytest.mark.usefixtures("libraries")
def test_keras_tells_the_job(job: SimpleNamespace) -> None:
    callback = _callback("keras", every_n_steps=2, save=lambda step: f"model-{step}.keras")
    callback.model = SimpleNamespace(stop_training=False)
    for batch in range(2):
        callback.on_train_batch_end(batch, {"loss": 0.5, "nothing": None, "worse": float("nan")})
    callback.on_epoch_end(0, {"loss": 0.4, "val_loss": 0.6})
    assert job.reports == [(2, {"loss": 0.5}), (2, {"loss": 0.4, "val_loss": 0.6})]
    assert job.checkpoints == [("model-2.keras", 2)]
    job.advice = tony_ts.Advice("checkpoint-now")
    callback.on_train_batch_end(2)
    callback.on_train_batch_end(3)
    assert job.checkpoints[1:] == [("model-4.keras", 4)]
    assert not callback.model.stop_training
    job.advice = tony_ts.Advice("stop")
    callback.on_epoch_end(1)
    assert callback.model.stop_training


@pytest.mark.usefixtures("libraries")
def test_a_trainer_tells_the_job(job: SimpleNamespace) -> None:
    callback = _callback("transformers", every_n_steps=5)
    arguments = SimpleNamespace(device="cpu", output_dir="out")
    state = SimpleNamespace(global_step=5, is_world_process_zero=True)
    control = SimpleNamespace(should_save=False, should_training_stop=False)
    callback.on_log(arguments, state, control, logs={"loss": 0.5, "step": 5})
    job.advice = tony_ts.Advice("checkpoint-now")
    assert callback.on_step_end(arguments, state, control, model=None).should_save
    callback.on_save(arguments, state, control)
    assert job.reports == [(5, {"loss": 0.5}), (5, {})]
    assert job.checkpoints == [("out/checkpoint-5", 5)]
    state.global_step, state.is_world_process_zero, control.should_save = 6, False, False
    job.advice = tony_ts.Advice("stop")
    callback.on_save(arguments, state, control)
    assert not callback.on_step_end(arguments, state, control).should_training_stop
    state.global_step = 10
    assert callback.on_step_end(arguments, state, control).should_training_stop
    assert not control.should_save
    assert len(job.checkpoints) == 1


@pytest.mark.usefixtures("libraries")
def test_lightning_tells_the_job(job: SimpleNamespace) -> None:
    saved: list[str] = []
    saver = SimpleNamespace(last_model_path="", best_model_path="", _last_global_step_saved=0)
    trainer: Any = SimpleNamespace(
        global_step=2,
        callback_metrics={"loss": 0.5},
        checkpoint_callback=saver,
        is_global_zero=True,
        sanity_checking=True,
        should_stop=False,
        save_checkpoint=saved.append,
        # Of two processes the other one has nothing to say.
        strategy=SimpleNamespace(reduce_boolean_decision=lambda decision: decision),
    )
    callback = _callback("lightning", every_n_steps=2, save_dir="kept")
    callback.on_validation_end(trainer, None)
    assert job.reports == []
    for batch in range(2):
        callback.on_train_batch_end(trainer, None, None, None, batch)
    assert job.reports == [(2, {"loss": 0.5})]
    saver.best_model_path, saver._last_global_step_saved = "ckpt/3.ckpt", 3
    trainer.global_step, job.advice = 4, tony_ts.Advice("checkpoint-now")
    callback.on_train_batch_end(trainer, None, None, None, 3, 0)
    assert saved == ["kept/step-4.ckpt"]
    assert job.checkpoints == [("ckpt/3.ckpt", 3), ("kept/step-4.ckpt", 4)]
    trainer.global_step, job.advice = 6, tony_ts.Advice("stop")
    callback.on_train_batch_end(trainer, None, None, None, 5)
    assert trainer.should_stop
    trainer.sanity_checking = False
    callback.on_validation_end(trainer, None)
    callback.on_train_end(trainer, None)
    assert len(job.checkpoints) == 2


@pytest.mark.usefixtures("libraries")
def test_without_a_job_nobody_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TONY_API", raising=False)
    callback = _callback("keras", every_n_steps=1, save=lambda step: f"model-{step}.keras")
    callback.on_train_batch_end(0, {"loss": 1})
    callback.on_epoch_end(0)
