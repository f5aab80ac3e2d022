"""The TensorBoard of ``run_on_yarn()``: a task of its own beside the job, in the environment of the others."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
from importlib.util import find_spec
from typing import Callable

from .environments import Path

_MISSING = "No TensorBoard runs: {where} has no tensorboard. Install it there (pip install tensorboard)"


def serve(log_dir: str | Callable[[], str], extra_args: str | None) -> None:
    """
    Runs in its task, until the job ends.

    :param log_dir: what it shows, or a function that finds it
    """
    if find_spec("tensorboard") is None:
        sys.exit(_MISSING.format(where=sys.executable))
    folder = log_dir if isinstance(log_dir, str) else log_dir()
    place = {"logdir": folder, "port": os.environ["TB_PORT"], "host": os.environ["NM_HOST"]}
    # As tf-yarn does: files that a training is still writing are read directly.
    os.environ["GCS_READ_CACHE_DISABLED"] = "1"
    sys.argv = ["tensorboard", *(f"--{name}={value}" for name, value in place.items()), *(extra_args or "").split()]
    runpy.run_module("tensorboard.main", run_name="__main__", alter_sys=True)


def missing(environment: Path | None) -> str | None:
    """The message where an environment of this machine has no TensorBoard. An archive or a PEX is not opened for it."""
    if environment is None or not os.path.isdir(environment):
        return None
    program = "import importlib.util, sys; sys.exit(importlib.util.find_spec('tensorboard') is None)"
    python = os.path.join(environment, "bin", "python")
    try:
        ran = subprocess.run([python, "-c", program], capture_output=True, check=False)
    except OSError:
        # The submission reports what is wrong with it.
        return None
    return _MISSING.format(where=os.fspath(environment)) if ran.returncode == 1 else None
