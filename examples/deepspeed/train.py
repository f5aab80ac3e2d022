"""Fits a line by DeepSpeed. Its rank, and where the others are, it is told by variables: no launcher, no hostfile."""
import os

import deepspeed
import torch
import torch.distributed as distributed
from torch import nn

STEPS = 500
# At stage 2 every process keeps its share of the gradients and of the optimizer's state alone. Gloo has what that needs since PyTorch 2.
ZERO_STAGE = int(os.environ.get("ZERO_STAGE", "2"))
CONFIGURATION = {
    "train_micro_batch_size_per_gpu": 256,
    "optimizer": {"type": "Adam", "params": {"lr": 0.1, "weight_decay": 0.0, "torch_adam": True}},
    "zero_optimization": {"stage": ZERO_STAGE},
    "zero_allow_untested_optimizer": True,
}


def main():
    torch.set_num_threads(1)
    deepspeed.init_distributed()
    rank, world = distributed.get_rank(), distributed.get_world_size()
    print(f"rank {rank} of {world}")

    model = nn.Linear(1, 1)
    engine, _, _, _ = deepspeed.initialize(model=model, model_parameters=model.parameters(), config=CONFIGURATION)
    torch.manual_seed(rank)
    inputs = torch.randn(256, 1, device=engine.device)
    targets = 3 * inputs + 2
    for _ in range(STEPS):
        engine.backward(nn.functional.mse_loss(engine(inputs), targets))
        engine.step()

    if rank == 0:
        slope, offset = model.weight.item(), model.bias.item()
        print(f"y = {slope:.2f} x + {offset:.2f}")
    distributed.barrier()
    distributed.destroy_process_group()


if __name__ == "__main__":
    main()
