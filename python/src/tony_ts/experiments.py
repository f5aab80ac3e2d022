"""What tasks of ``run_on_yarn()`` run, whatever they train."""

from __future__ import annotations

import os
from typing import Any, Callable


def run(experiment_fn: Callable[[], Any]) -> None:
    """Calls the function. Nothing else is needed where it trains by itself."""
    number_the_try()
    experiment_fn()


def number_the_try() -> None:
    """tf-yarn counts from 0."""
    os.environ.setdefault("TF_YARN_N_TRY", str(int(os.environ.get("TONY_GENERATION", "1")) - 1))
