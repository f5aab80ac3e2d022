"""
TensorFlowOnSpark's own manager and DataFeed, fed row by row, as its Spark task feeds them (TFSparkNode.train). Prints
rows a second.

It imports modules of TensorFlow and others but uses nothing of them, so that stand-ins replace them here.
"""

import json
import multiprocessing
import queue
import sys
import time
import types


def stand_in(name: str, **content: object) -> None:
    module = types.ModuleType(name)
    module.__dict__.update(content)
    sys.modules[name] = module


stand_in("tensorflow", __version__="2.21.0")
stand_in("pkg_resources", get_distribution=lambda name: types.SimpleNamespace(version="2.21.0"), DistributionNotFound=KeyError)
stand_in("packaging", version=types.SimpleNamespace(parse=str))
stand_in("six")
stand_in("six.moves")
stand_in("six.moves.queue", Empty=queue.Empty)

from tensorflowonspark import TFManager, TFNode  # noqa: E402

ROWS = 50_000
AUTHKEY = b"bench"


def put(address: str) -> None:
    rows = TFManager.connect(address, AUTHKEY).get_queue("input")
    row = b"x" * 99
    for _ in range(ROWS):
        rows.put(row, block=True)
    rows.put(None, block=True)


if __name__ == "__main__":
    manager = TFManager.start(AUTHKEY, ["input", "output"])
    feeder = multiprocessing.Process(target=put, args=(manager.address,))
    feeder.start()
    feed = TFNode.DataFeed(manager)
    feed.next_batch(1)
    began, count = time.monotonic(), 0
    while not feed.should_stop():
        count += len(feed.next_batch(1000))
    print(json.dumps({"rowsPerSecond": count / (time.monotonic() - began)}))
    feeder.join()
