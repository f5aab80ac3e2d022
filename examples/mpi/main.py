"""Computes pi: each process of MPI adds up its share of the area under a curve."""
import os

from mpi4py import MPI

STEPS = 1_000_000


def main():
    world = MPI.COMM_WORLD
    print(f"rank {world.rank} of {world.size} in {os.environ['CONTAINER_ID']}")
    share = sum(4 / (1 + ((step + 0.5) / STEPS) ** 2) for step in range(world.rank, STEPS, world.size)) / STEPS
    area = world.allreduce(share)
    if world.rank == 0:
        print(f"pi = {area:.6f}")


if __name__ == "__main__":
    main()
