"""The libraries themselves, each where it is installed, in a job on this machine."""

from __future__ import annotations

import sys
import textwrap
from importlib.util import find_spec
from pathlib import Path

import pytest
from conftest import ROOT

import tony_ts

KERAS = """
    import keras, numpy
    from tony_ts.training.keras import TonyCallback

    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
    model.compile(optimizer="sgd", loss="mse")

    def save(step):
        model.save(f"model-{step}.keras")
        return f"model-{step}.keras"

    rows = numpy.ones((64, 4), dtype="float32"), numpy.ones((64, 1), dtype="float32")
    model.fit(*rows, batch_size=8, epochs=2, verbose=0, callbacks=[TonyCallback(every_n_steps=3, save=save)])
    """

TRAINER = """
    import torch
    from transformers import Trainer, TrainingArguments
    from tony_ts.training.transformers import TonyCallback

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(4, 1)

        def forward(self, x, labels):
            return {"loss": ((self.layer(x) - labels) ** 2).mean()}

    rows = [{"x": torch.ones(4), "labels": torch.ones(1)} for _ in range(64)]
    arguments = TrainingArguments(
        "out", per_device_train_batch_size=8, num_train_epochs=2, logging_steps=2, save_steps=8, report_to=[]
    )
    Trainer(Model(), arguments, train_dataset=rows, callbacks=[TonyCallback(every_n_steps=4)]).train()
    """

LIGHTNING = """
    import torch
    try:
        import lightning.pytorch as lightning
    except ModuleNotFoundError:
        import pytorch_lightning as lightning
    from tony_ts.training.lightning import TonyCallback

    class Model(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(4, 1)

        def training_step(self, batch, batch_idx):
            loss = ((self.layer(batch) - 1) ** 2).mean()
            self.log("loss", loss)
            return loss

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), 0.1)

    rows = torch.utils.data.DataLoader(torch.ones(64, 4), batch_size=8)
    callbacks = [TonyCallback(every_n_steps=4)]
    settings = {"accelerator": "cpu", "logger": False, "enable_progress_bar": False}
    lightning.Trainer(max_epochs=2, callbacks=callbacks, **settings).fit(Model(), rows)
    """


@pytest.mark.parametrize(
    ("libraries", "program"),
    [
        pytest.param(["keras"], KERAS, id="keras"),
        pytest.param(["transformers", "accelerate", "torch"], TRAINER, id="trainer"),
        pytest.param(["pytorch_lightning", "torch"], LIGHTNING, id="lightning"),
    ],
)
def test_a_library_tells_the_job_how_training_goes(libraries: list[str], program: str) -> None:
    missing = [name for name in libraries if find_spec(name) is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")
    Path("train.py").write_text(textwrap.dedent(program))
    source = str(ROOT / "python" / "src")
    job = tony_ts.submit(
        f"{sys.executable} train.py",
        scheduler="local",
        memory="3g",
        files=["train.py"],
        env={"PYTHONPATH": source, "CUDA_VISIBLE_DEVICES": ""},
    )
    job.wait()
    [task] = job.report["tasks"]
    assert task["step"] == 16
    assert 0 <= task["metrics"]["loss"] < 10
    # It lay in the container.
    assert job.report["droppedCheckpoint"]["step"] == 16
