"""Puts of 32 threads, one at a time each, by the package's own client; prints what they took as a line of JSON."""

import json
import os
import threading
import time
from itertools import count
from pathlib import Path

import tony_ts

PUTS = 20_000
THREADS = 32
TICK_MS = 1_000 / os.sysconf("SC_CLK_TCK")


def parent_of(pid):
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.split("PPid:\t")[1].split("\n")[0])


def ancestor(program):
    """The process that this one was started by, over however many others."""
    pid = os.getpid()
    while program not in Path(f"/proc/{pid}/cmdline").read_text():
        pid = parent_of(pid)
    return pid


def processor_ms(pid):
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    return (int(fields[11]) + int(fields[12])) * TICK_MS


kv = tony_ts.task().kv
processes = {"clientUs": os.getpid(), "executorUs": ancestor("executor.cjs"), "masterUs": ancestor("am.cjs")}


def put_all(puts):
    numbers = count()

    def put():
        for nth in numbers:
            if nth >= puts:
                return
            kv.put(f"shared/many-{nth % 100}", str(nth))

    threads = [threading.Thread(target=put) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


# The first ones are those of functions that V8 has not compiled yet.
put_all(PUTS)
before = {name: processor_ms(pid) for name, pid in processes.items()}
began = time.perf_counter()
put_all(PUTS)
took = time.perf_counter() - began
used = {name: (processor_ms(pid) - before[name]) * 1_000 / PUTS for name, pid in processes.items()}
print(json.dumps({"putsPerSecond": PUTS / took, **used}))
