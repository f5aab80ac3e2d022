"""PyTorch Lightning reports to the job how training goes."""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

from .progress import Progress

if TYPE_CHECKING:

    class _Callback: ...
else:
    try:
        _Callback = import_module("lightning.pytorch").Callback
    except ModuleNotFoundError:
        _Callback = import_module("pytorch_lightning").Callback


class TonyCallback(_Callback):
    """
    For ``Trainer(callbacks=[TonyCallback()])``: reports every few steps what the module logs, and the checkpoints that
    the trainer has saved. With ``save_dir`` it saves one there when a container will be taken back.
    """

    def __init__(self, *, every_n_steps: int = 10, save_dir: str | None = None) -> None:
        super().__init__()
        self._every_n_steps = every_n_steps
        self._save_dir = save_dir
        self._progress = Progress()
        self._asked_at = -1
        self._told = ("", -1)

    def on_train_batch_end(
        self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int, *_unused: int
    ) -> None:
        step = trainer.global_step
        # Several batches may be one step.
        if step % self._every_n_steps == 0 and step != self._asked_at:
            self._asked_at = step
            self._report(trainer)

    def on_validation_end(self, trainer: Any, pl_module: Any) -> None:
        if not trainer.sanity_checking:
            self._progress.report(trainer.global_step, trainer.callback_metrics)

    def on_train_end(self, trainer: Any, pl_module: Any) -> None:
        self._progress.report(trainer.global_step, trainer.callback_metrics)
        self._tell_of_checkpoint(trainer)

    def _report(self, trainer: Any) -> None:
        step = trainer.global_step
        advice = self._progress.report(step, trainer.callback_metrics)
        self._tell_of_checkpoint(trainer)
        # All processes save and stop together.
        if self._save_dir is not None and _of_any(trainer, advice.should_checkpoint):
            path = os.path.join(self._save_dir, f"step-{step}.ckpt")
            trainer.save_checkpoint(path)
            if trainer.is_global_zero:
                self._progress.checkpoint(path, step)
        if _of_any(trainer, advice.should_stop):
            trainer.should_stop = True

    def _tell_of_checkpoint(self, trainer: Any) -> None:
        """The trainer's own callback saves after all others have been called, and calls nobody afterwards."""
        saver = trainer.checkpoint_callback
        path = getattr(saver, "last_model_path", "") or getattr(saver, "best_model_path", "")
        saved = (path, getattr(saver, "_last_global_step_saved", trainer.global_step))
        if path and saved != self._told and trainer.is_global_zero:
            self._told = saved
            self._progress.checkpoint(*saved)


def _of_any(trainer: Any, wish: bool) -> bool:
    return not trainer.strategy.reduce_boolean_decision(not wish)
