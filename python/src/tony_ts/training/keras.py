"""Keras reports to the job how training goes."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Callable, Mapping

from .progress import Progress

if TYPE_CHECKING:

    class _Callback:
        model: Any
else:
    _Callback = import_module("keras").callbacks.Callback


class TonyCallback(_Callback):
    """
    For ``model.fit(…, callbacks=[TonyCallback()])``: reports every few batches, and the whole of an epoch's logs.
    ``save``, called with the step, writes a checkpoint and returns its path: at each epoch's end, and when the
    container will be taken back.
    """

    def __init__(self, *, every_n_steps: int = 10, save: Callable[[int], str] | None = None) -> None:
        super().__init__()
        self._every_n_steps = every_n_steps
        self._save = save
        self._progress = Progress()
        self._step = 0

    def on_train_batch_end(self, batch: int, logs: Mapping[str, Any] | None = None) -> None:
        self._step += 1
        if self._step % self._every_n_steps == 0:
            self._report(logs)

    def on_epoch_end(self, epoch: int, logs: Mapping[str, Any] | None = None) -> None:
        self._report(logs)
        self._checkpoint()

    def _report(self, logs: Mapping[str, Any] | None) -> None:
        advice = self._progress.report(self._step, logs or {})
        if advice.should_checkpoint:
            self._checkpoint()
        if advice.should_stop:
            self.model.stop_training = True

    def _checkpoint(self) -> None:
        if self._save is not None:
            self._progress.checkpoint(self._save(self._step), self._step)
