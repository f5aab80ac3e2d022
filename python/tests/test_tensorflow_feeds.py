"""A feed's rows for tf.data: with a stand-in for TensorFlow, unless it is installed."""

from __future__ import annotations

import textwrap
from importlib.util import find_spec
from pathlib import Path

import pytest
from test_feed import ended, lines_of, numbers, said

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


def told(program: str, conf: dict[str, str], more: dict[str, str]) -> list[str]:
    imports = "import tensorflow as tf\nfrom tony_ts.tensorflow.feeds import FeedDataset\n"
    return said(PREFIX + imports + textwrap.dedent(program), conf, more=more)


def test_a_dataset_has_the_rows_and_its_state_goes_on_from_there(tmp_path: Path) -> None:
    conf = {"input": numbers(tmp_path / "in", 20)}
    program = """
    feed = FeedDataset("train", int, output_signature=tf.TensorSpec((), tf.int64))
    rows = iter(feed.dataset().as_numpy_iterator())
    print([int(next(rows)) for _ in range(12)], feed.state_dict()["partly"])
    feed = FeedDataset("later")
    plan = tony_ts.feed("other").state()["plan"]
    feed.load_state_dict({"plan": plan, "epoch": 0, "used": [0, 1], "partly": {"1": 2}})
    print(list(feed.dataset().as_numpy_iterator()))
    """
    more = {f"tony.feed.{name}.input": str(tmp_path / "in") for name in ("later", "other")}
    lines = told(program, conf, more)
    # Beside it TensorFlow says much of itself.
    assert "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11] {'1': 2}" in lines
    assert str([b"%08d" % number for number in range(12, 20)]) in lines


#: mnist_spark.py of TensorFlowOnSpark's examples (examples/mnist/keras, Apache 2.0), with what Keras 3 has changed:
#: a suffix of checkpoints, whole numbers of steps, how a model is saved.
MNIST = """
def main_fun(args, ctx):
  import numpy as np
  import tensorflow as tf
  from tony_ts.tensorflowonspark import TFNode

  strategy = tf.distribute.experimental.MultiWorkerMirroredStrategy()

  def build_and_compile_cnn_model():
    model = tf.keras.Sequential([
        tf.keras.layers.Conv2D(32, 3, activation='relu', input_shape=(28, 28, 1)),
        tf.keras.layers.MaxPooling2D(),
        tf.keras.layers.Flatten(),
        tf.keras.layers.Dense(64, activation='relu'),
        tf.keras.layers.Dense(10, activation='softmax')
    ])
    model.compile(
        loss=tf.keras.losses.sparse_categorical_crossentropy,
        optimizer=tf.keras.optimizers.SGD(learning_rate=0.001),
        metrics=['accuracy'])
    return model

  tf_feed = TFNode.DataFeed(ctx.mgr, False)

  def rdd_generator():
    while not tf_feed.should_stop():
      batch = tf_feed.next_batch(1)
      if len(batch) > 0:
        example = batch[0]
        image = np.array(example[0]).astype(np.float32) / 255.0
        image = np.reshape(image, (28, 28, 1))
        label = np.array(example[1]).astype(np.float32)
        label = np.reshape(label, (1,))
        yield (image, label)
      else:
        return

  shapes = (tf.TensorShape([28, 28, 1]), tf.TensorShape([1]))
  ds = tf.data.Dataset.from_generator(rdd_generator, (tf.float32, tf.float32), shapes)
  ds = ds.batch(args.batch_size)

  tf.io.gfile.makedirs(args.model_dir)
  filepath = args.model_dir + "/weights-{epoch:04d}.weights.h5"
  callbacks = [tf.keras.callbacks.ModelCheckpoint(filepath=filepath, verbose=1, save_weights_only=True)]

  with strategy.scope():
    multi_worker_model = build_and_compile_cnn_model()

  steps_per_epoch = args.rows / args.batch_size
  steps_per_epoch_per_worker = steps_per_epoch / ctx.num_workers
  max_steps_per_worker = steps_per_epoch_per_worker * 0.9

  multi_worker_model.fit(x=ds, epochs=args.epochs, steps_per_epoch=int(max_steps_per_worker), callbacks=callbacks)

  multi_worker_model.save(args.export_dir + ".keras")

  tf_feed.terminate()


import warnings
from types import SimpleNamespace
from tony_ts import tensorflowonspark

# Keras warns of how the example builds its model.
warnings.simplefilter("default")

def parse(ln):
  vec = [int(x) for x in ln.split(b',')]
  return (vec[1:], vec[0])

args = SimpleNamespace(batch_size=8, epochs=2, rows=80, model_dir="model", export_dir="export")
tensorflowonspark.run(main_fun, args, parse=parse)
"""


@pytest.mark.skipif(find_spec("tensorflow") is None, reason="not installed: tensorflow")
def test_an_example_of_tensorflowonspark_trains(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for part in range(4):
        rows = (
            f"{row % 10}," + ",".join(str(row * at % 256) for at in range(784))
            for row in range(part * 20, part * 20 + 20)
        )
        (tmp_path / "in" / f"part-{part}").write_text("".join(f"{row}\n" for row in rows))
    more = {
        "tony.application.framework": "tensorflow",
        "tony.feed.input.input": str(tmp_path / "in"),
        "tony.feed.input.epochs": "3",
    }
    job = ended(MNIST, {}, more=more)
    assert job.state == "succeeded"
    saved = [line for line in lines_of(job) if line.startswith("Epoch ") and "finished saving model" in line]
    assert [line.rpartition("-")[2] for line in saved] == ["0001.weights.h5", "0002.weights.h5"]
