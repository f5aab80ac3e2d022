"""Trains a small network to read digits with PyTorch's DistributedDataParallel over gloo.

Every process of the job runs this file. The environment tells it its place: RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT.
Rank 0 saves a checkpoint after every epoch; every process of a restarted job is told the same one to go on from.
"""
import json
import os
import time

import torch
import torch.distributed as distributed
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

EPOCHS = int(os.environ.get("EPOCHS", "5"))
BATCH_SIZE = 16
LEARNING_RATE = 6e-3
# tony-ts brings what is saved here to HDFS, and back into the container of every process before it starts again.
CHECKPOINTS = os.environ.get("TONY_CHECKPOINT_LOCAL_DIR") or "checkpoints"
RESULTS = os.environ.get("TONY_OUTPUT_LOCAL_DIR") or "results"

# Five dots in each of seven rows.
DIGITS = """
.###. ..#.. .###. ##### ...#. ##### ..##. ##### .###. .###.
#...# .##.. #...# ...#. ..##. #.... .#... ....# #...# #...#
#..## ..#.. ....# ..#.. .#.#. ####. #.... ...#. #...# #...#
#.#.# ..#.. ...#. ...#. #..#. ....# ####. ..#.. .###. .####
##..# ..#.. ..#.. ....# ##### ....# #...# .#... #...# ....#
#...# ..#.. .#... #...# ...#. #...# #...# .#... #...# ...#.
.###. .###. ##### .###. ...#. .###. .###. .#... .###. .##..
"""


def pictures(count, seed):
    """Digits under so much noise that a person has to look twice."""
    rows = [line.split() for line in DIGITS.strip().splitlines()]
    shapes = [[float(dot == "#") for row in rows for dot in row[digit]] for digit in range(10)]
    labels = torch.arange(count) % 10
    noise = torch.randn(count, 35, generator=torch.Generator().manual_seed(seed))
    return TensorDataset(torch.tensor(shapes)[labels] + 0.5 * noise, labels)


def save_checkpoint(model, optimizer, epoch, step):
    """Writes under a temporary name and renames, so that a half-written file is never taken for a checkpoint."""
    os.makedirs(CHECKPOINTS, exist_ok=True)
    path = os.path.join(CHECKPOINTS, f"step-{step}.pt")
    state = {"model": model.module.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch, "step": step}
    torch.save(state, path + ".part")
    os.replace(path + ".part", path)
    return path


def report_progress(step, checkpoint=None):
    """Tells tony-ts how far the training is; it shows up in `tony-ts status` and in failure reports."""
    file = os.environ.get("TONY_PROGRESS_FILE")
    if not file:
        return
    line = {"step": step}
    if checkpoint:
        line["checkpoint"] = os.path.abspath(checkpoint)
    with open(file, "a", encoding="utf-8") as progress:
        progress.write(json.dumps(line) + "\n")


def accuracy(model, test_set):
    images, labels = test_set.tensors
    with torch.no_grad():
        return (model(images).argmax(dim=1) == labels).float().mean().item()


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    distributed.init_process_group("gloo")
    rank, world = distributed.get_rank(), distributed.get_world_size()
    print(f"rank {rank} of {world}")

    train_set, test_set = pictures(1600, seed=1), pictures(400, seed=2)
    model = DistributedDataParallel(nn.Sequential(nn.Linear(35, 256), nn.ReLU(), nn.Linear(256, 10)))
    optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)
    sampler = DistributedSampler(train_set, num_replicas=world, rank=rank, seed=1)
    loader = DataLoader(train_set, batch_size=BATCH_SIZE, sampler=sampler)

    first_epoch, step = 0, 0
    checkpoint = os.environ.get("TONY_CHECKPOINT")
    if checkpoint:
        state = torch.load(checkpoint)
        model.module.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        first_epoch, step = state["epoch"] + 1, state["step"]
        print(f"resumed from {checkpoint}, step {step}")

    pause = float(os.environ.get("SECONDS_PER_STEP", "0"))
    for epoch in range(first_epoch, EPOCHS):
        sampler.set_epoch(epoch)
        for group in optimizer.param_groups:
            group["lr"] = LEARNING_RATE * (1 - epoch / EPOCHS)
        total = 0.0
        for images, labels in loader:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(images), labels)
            loss.backward()
            optimizer.step()
            total += loss.item()
            step += 1
            time.sleep(pause)
        if rank == 0:
            saved = save_checkpoint(model, optimizer, epoch, step)
            report_progress(step, saved)
            share = accuracy(model.module, test_set) * 100
            loss = total / len(loader)
            print(f"epoch {epoch + 1}/{EPOCHS}  loss {loss:.2f}  test accuracy {share:.1f} %   checkpoint step {step}")
        distributed.barrier()
    if rank == 0:
        os.makedirs(RESULTS, exist_ok=True)
        torch.save(model.module.state_dict(), os.path.join(RESULTS, "model.pt"))
    distributed.destroy_process_group()


if __name__ == "__main__":
    main()
