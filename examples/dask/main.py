"""Lets the workers of a Dask cluster add up squares. Dask finds the scheduler by DASK_SCHEDULER_ADDRESS."""
from distributed import Client, get_worker

WORKERS = 2


def square(number):
    return get_worker().address, number * number


def main():
    with Client() as client:
        client.wait_for_workers(WORKERS)
        print(f"scheduler {client.scheduler.address}")
        results = client.gather(client.map(square, range(100), pure=False))
        workers = {address for address, _ in results}
        print(f"sum of squares {sum(value for _, value in results)}, computed by {len(workers)} workers")


if __name__ == "__main__":
    main()
