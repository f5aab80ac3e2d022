"""
Two tasks have one split each. One is killed, and the other one prints how long it took until it had that split, too.
"""

import json
import os
import signal
import time

import tony_ts

# A program that was started again reads nothing.
if "TONY_RESTART_REASON" not in os.environ:
    splits = tony_ts.feed("rows").splits()
    next(splits)
    tony_ts.task().barrier("each-has-one")
    if os.environ["TASK_INDEX"] == "1":
        tony_ts.task().kv.put("shared/killed", str(time.time()))
        os.kill(os.getpid(), signal.SIGKILL)
    next(splits)
    atSeconds = time.time()
    print(json.dumps({"tookOverMs": (atSeconds - float(tony_ts.task().kv["shared/killed"])) * 1000}))
