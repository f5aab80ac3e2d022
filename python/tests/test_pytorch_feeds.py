"""A feed's rows for a DataLoader: with a stand-in for PyTorch, which this environment has not."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from test_feed import numbers, said

import tony_ts

#: What the module takes of PyTorch.
STAND_IN = """
import sys, types
data = types.ModuleType("torch.utils.data")
data.IterableDataset = type("IterableDataset", (), {})
data.get_worker_info = lambda: None
sys.modules["torch.utils.data"] = data
from tony_ts.pytorch.feeds import FeedDataset
"""


def test_a_loader_has_the_rows_and_its_state_goes_on_from_there(tmp_path: Path) -> None:
    conf = {"input": numbers(tmp_path / "in", 20)}
    program = """
    dataset = FeedDataset("train", int, views=True)
    rows = iter(dataset)
    print([next(rows) for _ in range(12)], dataset.state_dict()["partly"])
    dataset = FeedDataset("later")
    plan = tony_ts.feed("other").state()["plan"]
    dataset.load_state_dict({"plan": plan, "epoch": 0, "used": [0, 1], "partly": {"1": 2}})
    print(list(dataset))
    """
    more = {f"tony.feed.{name}.input": str(tmp_path / "in") for name in ("later", "other")}
    assert said(STAND_IN + _dedented(program), conf, more=more) == [
        "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11] {'1': 2}",
        str([b"%08d" % number for number in range(12, 20)]),
    ]


def _dedented(program: str) -> str:
    return "\n".join(line[4:] for line in program.splitlines())


def test_several_workers_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    torch: Any = ModuleType("torch.utils.data")
    torch.IterableDataset = type("IterableDataset", (), {})
    torch.get_worker_info = lambda: SimpleNamespace(num_workers=2)
    monkeypatch.setitem(sys.modules, "torch.utils.data", torch)
    monkeypatch.delitem(sys.modules, "tony_ts.pytorch.feeds", raising=False)
    dataset: Any = import_module("tony_ts.pytorch.feeds").FeedDataset("train")
    with pytest.raises(
        tony_ts.TonyError, match=r"one process of a task reads train: use DataLoader\(…, num_workers=0\)"
    ):
        iter(dataset)
