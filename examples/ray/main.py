"""Lets the workers of a Ray cluster add up squares."""
import os
import time

import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

WORKERS = 2


@ray.remote(num_cpus=1)
def square(number):
    time.sleep(0.1)
    return ray.get_runtime_context().get_node_id(), number * number


def main():
    ray.init(address=f"{os.environ['TONY_HOST']}:{os.environ['TONY_PORT']}")
    while ray.cluster_resources().get("CPU", 0) < WORKERS:
        time.sleep(0.2)
    # Left to itself Ray starts a task where a process is ready: short ones may all be done before another node has one.
    workers = [node["NodeID"] for node in ray.nodes() if node["Resources"].get("CPU", 0) > 0]
    on = [NodeAffinitySchedulingStrategy(worker, soft=False) for worker in workers]
    squares = [square.options(scheduling_strategy=on[number % len(on)]).remote(number) for number in range(100)]
    results = ray.get(squares)
    nodes = {node for node, _ in results}
    print(f"sum of squares {sum(value for _, value in results)}, computed by {len(nodes)} workers")


if __name__ == "__main__":
    main()
