"""Fits a line by Horovod over Gloo. Its rank, and where the others are, it is told by variables: no horovodrun, no driver.

Rank 0 saves a checkpoint now and then; every process of a restarted job is told the same one to go on from.
"""
import json
import os
import time

import horovod.torch as hvd
import torch
from torch import nn

STEPS = int(os.environ.get("STEPS", "200"))
STEPS_PER_CHECKPOINT = 50
SECONDS_PER_STEP = float(os.environ.get("SECONDS_PER_STEP", "0"))
# tony-ts brings what is saved here to HDFS, and back into the container of every process before it starts again.
CHECKPOINTS = os.environ.get("TONY_CHECKPOINT_LOCAL_DIR") or "checkpoints"


def save_checkpoint(model, optimizer, step):
    """Writes under a temporary name and renames, so that a half-written file is never taken for a checkpoint."""
    os.makedirs(CHECKPOINTS, exist_ok=True)
    path = os.path.abspath(os.path.join(CHECKPOINTS, f"step-{step}.pt"))
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}, path + ".part")
    os.replace(path + ".part", path)
    if progress := os.environ.get("TONY_PROGRESS_FILE"):
        with open(progress, "a", encoding="utf-8") as file:
            file.write(json.dumps({"step": step, "checkpoint": path}) + "\n")


def say(line):
    """Writes the line in one piece: print() writes its end apart, and the other process in the container may write between the two."""
    print(line + "\n", end="")


def main():
    torch.set_num_threads(1)
    hvd.init()
    rank, world = hvd.rank(), hvd.size()
    say(f"rank {rank} of {world}, {hvd.local_rank()} of {hvd.local_size()} on its machine")

    torch.manual_seed(rank)
    inputs = torch.randn(256, 1)
    targets = 3 * inputs + 2
    model = nn.Linear(1, 1)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    first = 0
    if checkpoint := os.environ.get("TONY_CHECKPOINT"):
        state = torch.load(checkpoint)
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        first = state["step"]
        say(f"resumed from step {first}")
    hvd.broadcast_parameters(model.state_dict(), root_rank=0)
    hvd.broadcast_optimizer_state(optimizer, root_rank=0)
    optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())

    for step in range(first + 1, STEPS + 1):
        optimizer.zero_grad()
        nn.functional.mse_loss(model(inputs), targets).backward()
        optimizer.step()
        if rank == 0 and step % STEPS_PER_CHECKPOINT == 0:
            save_checkpoint(model, optimizer, step)
        time.sleep(SECONDS_PER_STEP)

    if rank == 0:
        say(f"y = {model.weight.item():.2f} x + {model.bias.item():.2f}")
    hvd.shutdown()


if __name__ == "__main__":
    main()
