"""
Puts values with the package's own client, from 32 threads and with futures, and prints what they took as a line of
JSON.
"""

import json
import os
import threading
import time
from itertools import count
from pathlib import Path

import tony_ts

PUTS = 20_000
THREADS = 32
KEYS = 320
TICK_MS = 1_000 / os.sysconf("SC_CLK_TCK")


def parent_of(pid):
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.split("PPid:\t")[1].split("\n")[0])


def ancestor(program):
    """The nearest process above this one whose command line contains that program."""
    pid = os.getpid()
    while program not in Path(f"/proc/{pid}/cmdline").read_text():
        pid = parent_of(pid)
    return pid


def processor_ms(pid):
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    return (int(fields[11]) + int(fields[12])) * TICK_MS


kv = tony_ts.task().kv
processes = {"clientUs": os.getpid(), "executorUs": ancestor("executor.cjs"), "masterUs": ancestor("am.cjs")}


def put(nth):
    return f"shared/many-{nth % KEYS}", f"{nth:0100}"


def put_by_threads(puts):
    """Each thread makes one put at a time."""
    numbers = count()

    def put_some():
        for nth in numbers:
            if nth >= puts:
                return
            kv.put(*put(nth))

    threads = [threading.Thread(target=put_some) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def put_by_futures(puts):
    """One thread makes as many puts at a time as the client allows."""
    for future in [kv.put_future(*put(nth)) for nth in range(puts)]:
        future.result()


def measured(put_all):
    # V8 has not yet compiled the functions that the first calls use.
    put_all(PUTS)
    before = {name: processor_ms(pid) for name, pid in processes.items()}
    began = time.perf_counter()
    put_all(PUTS)
    took = time.perf_counter() - began
    used = {name: (processor_ms(pid) - before[name]) * 1_000 / PUTS for name, pid in processes.items()}
    return {"putsPerSecond": PUTS / took, **used}


print(json.dumps({"threads": measured(put_by_threads), "futures": measured(put_by_futures)}))
