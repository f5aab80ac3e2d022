"""Fits a line by DistributedDataParallel over gloo. torchrun has told this process its rank, and where the others are."""
import torch
import torch.distributed as distributed
from torch import nn
from torch.nn.parallel import DistributedDataParallel

STEPS = 200


def main():
    torch.set_num_threads(1)
    distributed.init_process_group("gloo")
    rank, world = distributed.get_rank(), distributed.get_world_size()
    # In one piece: print() writes its end apart, and the other process in the container may write between the two.
    print(f"rank {rank} of {world}\n", end="")

    torch.manual_seed(rank)
    inputs = torch.randn(256, 1)
    targets = 3 * inputs + 2
    model = DistributedDataParallel(nn.Linear(1, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(STEPS):
        optimizer.zero_grad()
        nn.functional.mse_loss(model(inputs), targets).backward()
        optimizer.step()

    if rank == 0:
        slope, offset = model.module.weight.item(), model.module.bias.item()
        print(f"y = {slope:.2f} x + {offset:.2f}")
    distributed.barrier()
    distributed.destroy_process_group()


if __name__ == "__main__":
    main()
