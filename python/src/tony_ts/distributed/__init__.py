"""tf-yarn's ``distributed``: functions that set up their own communication."""

from __future__ import annotations

from .client import run_on_yarn
from .task import TaskParameters, get_task

__all__ = ["TaskParameters", "get_task", "run_on_yarn"]
