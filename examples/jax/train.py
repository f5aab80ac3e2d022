"""Fits a line by gradients that all processes of JAX compute together. The environment tells each where the coordinator is."""
import os

import jax

jax.distributed.initialize(
    coordinator_address=os.environ["JAX_COORDINATOR_ADDRESS"],
    num_processes=int(os.environ["JAX_NUM_PROCESSES"]),
    process_id=int(os.environ["JAX_PROCESS_ID"]),
)

import jax.numpy as jnp
from jax.experimental import multihost_utils

STEPS = 100


def loss(parameters, inputs, targets):
    slope, offset = parameters
    return jnp.mean((slope * inputs + offset - targets) ** 2)


def main():
    rank, world = jax.process_index(), jax.process_count()
    print(f"process {rank} of {world}, {jax.device_count()} devices in all")

    inputs = jax.random.normal(jax.random.PRNGKey(rank), (256,))
    targets = 3 * inputs + 2
    parameters = jnp.zeros(2)
    gradient = jax.jit(jax.grad(loss))
    for _ in range(STEPS):
        gradients = multihost_utils.process_allgather(gradient(parameters, inputs, targets))
        parameters = parameters - 0.1 * gradients.reshape(world, 2).mean(axis=0)

    if rank == 0:
        slope, offset = parameters
        print(f"y = {slope:.2f} x + {offset:.2f}")
    jax.distributed.shutdown()


if __name__ == "__main__":
    main()
