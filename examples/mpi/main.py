"""Computes pi: each process of MPI adds up its share of the area under a curve."""
import os

from mpi4py import MPI

STEPS = 1_000_000


def main():
    world = MPI.COMM_WORLD
    # In one piece: print() writes its end apart, and another process may write between the two.
    print(f"rank {world.rank} of {world.size} in {os.environ['CONTAINER_ID']}\n", end="")
    share = sum(4 / (1 + ((step + 0.5) / STEPS) ** 2) for step in range(world.rank, STEPS, world.size)) / STEPS
    area = world.allreduce(share)
    if world.rank == 0:
        print(f"pi = {area:.6f}")


if __name__ == "__main__":
    main()
