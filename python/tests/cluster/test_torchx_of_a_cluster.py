"""TorchX's component dist.ddp on a real cluster: two agents of torchrun, of two processes each."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from test_torchx import find_plugin, install_plugin, ran, torchx

TRAIN = """
import os, sys
import torch, torch.distributed as dist

dist.init_process_group("gloo")
total = torch.ones(1) * dist.get_rank()
dist.all_reduce(total)
print(f"rank {dist.get_rank()} of {dist.get_world_size()}: {total.item():.0f}", flush=True)
dist.barrier()
if sys.argv[1:] == ["fails"]:
    raise ValueError("no such column: price")
"""


def test_distributed_training_runs_and_its_failure_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    install_plugin(tmp_path / "plugin")
    find_plugin(monkeypatch, tmp_path / "plugin")
    Path("train.py").write_text(TRAIN)

    def run(port: int, *words: str) -> str:
        # Debian's torch 1.13 fails on its Python 3.11 without these two.
        mend = ("--env", "PET_REDIRECTS=1", "--tee", "1")
        size = ("-j", "2x2", "--cpu", "1", "--memMB", "2048", "--rdzv_port", str(port), *mend)
        said = ran("run", "-s", "tony", "dist.ddp", *size, "--script", "train.py", *words)
        return said.strip().splitlines()[-1]

    handle = run(29571)
    lines = torchx("log", "--tail", f"{handle}/train").stdout
    assert set(re.findall(r"rank \d of 4: \d", lines)) == {f"rank {rank} of 4: 6" for rank in range(4)}, lines
    succeeded = ran("status", handle)
    assert "State: SUCCEEDED" in succeeded
    assert re.search(r"UI URL: http\S+application_", succeeded)
    assert "SUCCEEDED" in next(line for line in ran("list", "-s", "tony").splitlines() if handle in line)

    failed = run(29572, "--", "fails")
    assert "ValueError: no such column: price" in torchx("log", "--tail", f"{failed}/train").stdout
    told = torchx("status", failed).stdout
    assert "State: FAILED" in told
    # The agent whose program raised first may have been stopped, because of the other's end, before it had ended.
    assert re.search(r"train\[\d\]:FAILED \(exitcode: (1|SIGTERM)\)", told)
