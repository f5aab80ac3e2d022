"""Hugging Face's Trainer reports to the job how training goes."""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any, Mapping

from .progress import Progress

if TYPE_CHECKING:

    class _TrainerCallback: ...
else:
    _TrainerCallback = import_module("transformers").TrainerCallback


class TonyCallback(_TrainerCallback):
    """
    For ``Trainer(…, callbacks=[TonyCallback()])``: reports what the trainer logs and the checkpoints that it has saved,
    and makes it save one when a container will be taken back. All processes ask every ``every_n_steps``.
    """

    def __init__(self, *, every_n_steps: int = 10) -> None:
        self._every_n_steps = every_n_steps
        self._progress = Progress()

    def on_log(
        self, args: Any, state: Any, control: Any, logs: Mapping[str, Any] | None = None, **_kwargs: Any
    ) -> None:
        self._progress.report(state.global_step, logs or {})

    def on_step_end(self, args: Any, state: Any, control: Any, **_kwargs: Any) -> Any:
        if state.global_step % self._every_n_steps == 0:
            advice = self._progress.report(state.global_step, {})
            # All processes save and stop together.
            if _of_any(advice.should_checkpoint, args.device):
                control.should_save = True
            if _of_any(advice.should_stop, args.device):
                control.should_training_stop = True
        return control

    def on_save(self, args: Any, state: Any, control: Any, **_kwargs: Any) -> None:
        if state.is_world_process_zero:
            step = state.global_step
            self._progress.checkpoint(os.path.join(args.output_dir, f"checkpoint-{step}"), step)


def _of_any(wish: bool, device: Any) -> bool:
    torch: Any = import_module("torch")
    distributed: Any = import_module("torch.distributed")
    if not (distributed.is_available() and distributed.is_initialized()):
        return wish
    wishes = torch.tensor(int(wish), device=device)
    distributed.all_reduce(wishes, op=distributed.ReduceOp.MAX)
    return bool(wishes.item())
