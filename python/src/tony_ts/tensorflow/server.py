"""In a task: a TensorFlow server, until its client is done."""

from __future__ import annotations

import json
import os
from importlib import import_module
from typing import Any

from ..experiments import number_the_try
from ..in_task import task

#: Keys below ``shared/``: the prefix of each server's key, whose value is its address; and the key that ends all.
SERVES = "tony-ts/serves/"
STOP = "tony-ts/stop"


def serve() -> None:
    number_the_try()
    config = json.loads(os.environ["TF_CONFIG"])
    own = config["task"]
    role, index = own["type"], int(own["index"])
    tf: Any = import_module("tensorflow")
    serving = tf.distribute.Server(config["cluster"], job_name=role, task_index=index, protocol="grpc")
    keys = task().kv
    changes = keys.watch(f"shared/{STOP}")
    keys.put(f"shared/{SERVES}{role}:{index}", config["cluster"][role][index], owned=True)
    if keys.entry(f"shared/{STOP}") is None:
        next(changes)
    print(f"{serving.target} has done", flush=True)
    # Its threads do not end by themselves.
    os._exit(0)
