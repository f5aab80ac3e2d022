"""Uses some splits, and prints how much memory the ApplicationMaster takes by then; the other splits stay unread."""

import json
import os
from itertools import islice
from pathlib import Path

import tony_ts


def facts(pid: int) -> "dict[str, str]":
    status = Path(f"/proc/{pid}/status").read_text()
    return dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)


used = sum(1 for _ in islice(tony_ts.feed("rows").splits(), 2000))
pid = os.getpid()
while "am.cjs" not in Path(f"/proc/{pid}/cmdline").read_text():
    pid = int(facts(pid)["PPid"])
print(json.dumps({"masterMiB": int(facts(pid)["VmRSS"].split()[0]) / 1024, "used": used}))
