"""A feed's rows for tf.data: with a stand-in for TensorFlow, unless it is installed."""

from __future__ import annotations

import textwrap
from importlib.util import find_spec
from pathlib import Path

from test_feed import numbers, said

#: What the module takes of TensorFlow.
STAND_IN = """
import sys, types
tensorflow = types.ModuleType("tensorflow")
tensorflow.string, tensorflow.int64 = "string", "int64"
tensorflow.TensorSpec = lambda shape, kind: (shape, kind)
class Rows:
    def __init__(self, rows, output_signature):
        self.as_numpy_iterator, self.element_spec = rows, output_signature
    def with_options(self, options):
        return self
options = types.SimpleNamespace(experimental_optimization=types.SimpleNamespace())
dataset = types.SimpleNamespace(from_generator=Rows)
tensorflow.data = types.SimpleNamespace(Dataset=dataset, Options=lambda: options)
sys.modules["tensorflow"] = tensorflow
"""

PREFIX = "" if find_spec("tensorflow") else STAND_IN


def told(program: str, conf: dict[str, str], more: dict[str, str] | None = None) -> list[str]:
    imports = "import tensorflow as tf\nfrom tony_ts.tensorflow.feeds import FeedDataset\n"
    return said(PREFIX + imports + textwrap.dedent(program), conf, more=more)


def test_a_dataset_has_the_rows_and_its_state_goes_on_from_there(tmp_path: Path) -> None:
    conf = {"input": numbers(tmp_path / "in", 20)}
    program = """
    feed = FeedDataset("train", int, output_signature=tf.TensorSpec((), tf.int64))
    rows = iter(feed.dataset().as_numpy_iterator())
    print([int(next(rows)) for _ in range(12)], feed.state_dict()["partly"])
    """
    # Beside it TensorFlow says much of itself.
    assert "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11] {'1': 2}" in told(program, conf)
    program = """
    feed = FeedDataset("train")
    plan = tony_ts.feed("other").state()["plan"]
    feed.load_state_dict({"plan": plan, "epoch": 0, "used": [0, 1], "partly": {"1": 2}})
    print(list(feed.dataset().as_numpy_iterator()))
    """
    expected = str([b"%08d" % number for number in range(12, 20)])
    assert expected in told(program, conf, {"tony.feed.other.input": str(tmp_path / "in")})
