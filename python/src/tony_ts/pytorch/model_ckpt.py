"""Checkpoints of a model and its optimizer: ``model_3.pt`` after epoch 3, in a folder or at a URL that fsspec knows."""

from __future__ import annotations

import os
import re
import tempfile
from importlib import import_module
from typing import Any

from . import files


def find_latest_ckpt(model_dir: str) -> str | None:
    """The checkpoint of the last epoch."""
    epochs = [int(match[1]) for name in files.names(model_dir) if (match := re.fullmatch(r"model_(\d+)\.pt", name))]
    return os.path.join(model_dir, f"model_{max(epochs)}.pt") if epochs else None


def load_latest_ckpt(model_dir: str, model: Any, optimizer: Any, device: int | str) -> dict[Any, Any] | None:
    """None where nothing has been saved."""
    latest = find_latest_ckpt(model_dir)
    return None if latest is None else load_ckpt(latest, model, optimizer, device)


def load_ckpt(model_ckpt_path: str, model: Any, optimizer: Any, device: int | str) -> dict[Any, Any]:
    """Loads it into the model and the optimizer, and returns everything that was saved."""
    torch: Any = import_module("torch")
    with files.opened(model_ckpt_path) as file:
        checkpoint: dict[Any, Any] = torch.load(file, map_location=torch.device(device))
    _inner(model).load_state_dict(checkpoint["model"])
    optimizer.load_state_dict(checkpoint["optimizer"])
    return checkpoint


def save_ckpt(model_dir: str, model: Any, optimizer: Any, epoch: int, **kwargs: Any) -> str:
    """Returns its path."""
    torch: Any = import_module("torch")
    state = {"model": _inner(model).state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch, **kwargs}
    place = os.path.join(model_dir, f"model_{epoch}.pt")
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "model.pt")
        torch.save(state, file)
        files.put(file, place)
    return place


def _inner(model: Any) -> Any:
    parallel: Any = import_module("torch.nn.parallel")
    return model.module if isinstance(model, parallel.DistributedDataParallel) else model
