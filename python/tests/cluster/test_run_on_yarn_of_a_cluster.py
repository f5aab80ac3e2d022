"""tf-yarn's PyTorch experiment on a real cluster, over gloo: two tasks of two processes."""

from __future__ import annotations

import importlib.util
import os
import subprocess
from pathlib import Path

PROGRAM = """
import sys
import torch
from torch import nn
from tony_ts.pytorch import DataLoaderArgs, PytorchExperiment, RunFailed, TaskSpec, run_on_yarn

FOLDER, FAILS = sys.argv[1], len(sys.argv) > 2


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 1)

    def forward(self, x):
        return self.layer(x)


def main_fn(model, trainloader, device, rank, tb_writer):
    from tony_ts.pytorch import model_ckpt

    if FAILS and rank == 3:
        raise ValueError("no such column: price")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    checkpoint = model_ckpt.load_latest_ckpt(FOLDER, model, optimizer, device)
    for epoch in range(checkpoint["epoch"] + 1 if checkpoint else 0, 3):
        trainloader.sampler.set_epoch(epoch)
        for inputs, labels in trainloader:
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(model(inputs.to(device)), labels.to(device))
            loss.backward()
            optimizer.step()
        tb_writer.add_scalar("loss", loss.item(), epoch)
        if rank == 0:
            model_ckpt.save_ckpt(FOLDER, model, optimizer, epoch, loss=loss.item())


def experiment_fn():
    torch.manual_seed(1)
    inputs = torch.randn(512, 2)
    dataset = torch.utils.data.TensorDataset(inputs, inputs.sum(dim=1, keepdim=True))
    arguments = DataLoaderArgs(batch_size=16, num_workers=1, shuffle=True)
    return PytorchExperiment(model=Net(), main_fn=main_fn, train_dataset=dataset, dataloader_args=arguments)


if __name__ == "__main__":
    try:
        measured = run_on_yarn(
            experiment_fn=experiment_fn,
            task_specs={"worker": TaskSpec(memory="2 GiB", vcores=2, instances=2, nb_proc_per_worker=2)},
            env={"PYTHON": sys.executable},
        )
        print("trained for", measured.total_training_duration)
    except RunFailed as error:
        print(error)
    if not FAILS:
        print(torch.load(f"{FOLDER}/model_2.pt")["loss"])
"""


def test_a_pytorch_experiment_trains_in_all_processes_and_its_failure_is_told(tmp_path: Path) -> None:
    # Which may have no cloudpickle of its own.
    packages = tmp_path / "packages"
    packages.mkdir()
    cloudpickle = importlib.util.find_spec("cloudpickle")
    assert cloudpickle is not None
    assert cloudpickle.origin is not None
    (packages / "cloudpickle").symlink_to(Path(cloudpickle.origin).parent)
    saved = tmp_path / "saved"
    saved.mkdir()
    # Tasks of a cluster may be another user's.
    saved.chmod(0o777)
    for folder in saved.parents[:3]:
        folder.chmod(0o755)
    env = {**os.environ, "PYTHONPATH": f"{os.environ['PYTHONPATH']}:{packages}"}
    Path("program.py").write_text(PROGRAM)

    def run(*words: str) -> str:
        command = [env["PYTHON_WITH_TORCH"], "program.py", str(saved), *words]
        return subprocess.run(command, env=env, stdout=subprocess.PIPE, check=True).stdout.decode()

    trained, loss = run().splitlines()
    assert trained.startswith("trained for 0:00:")
    assert float(loss) < 0.1
    failed = run("fails")
    assert "ValueError: no such column: price" in failed
    assert ", in main_fn\n" in failed
