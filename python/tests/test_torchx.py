"""TorchX's own command line and component, with the plugin installed as pip does it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT


@pytest.fixture(scope="module")
def plugin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("plugin")
    install_plugin(folder)
    return folder


@pytest.fixture(autouse=True)
def _plugin(monkeypatch: pytest.MonkeyPatch, plugin: Path) -> None:
    find_plugin(monkeypatch, plugin)


def install_plugin(folder: Path) -> None:
    words = ["install", "--quiet", "--no-index", "--no-deps", "--no-build-isolation", "--target", str(folder)]
    subprocess.run([sys.executable, "-m", "pip", *words, str(ROOT / "python" / "torchx")], check=True)


def find_plugin(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Nobody but these tests does."""
    monkeypatch.setenv("PYTHONPATH", f"{folder}:{os.environ['PYTHONPATH']}")


def torchx(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "torchx.cli.main", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def ran(*words: str) -> str:
    done = torchx(*words)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


LOCAL = "scheduler=local"


def first_line_of(handle: str) -> str:
    """Of the second replica, as it comes."""
    command = [sys.executable, "-m", "torchx.cli.main", "log", "--tail", f"{handle}/sh/1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as following:
        assert following.stdout is not None
        line = following.stdout.readline()
        following.terminate()
    return line


def test_a_component_runs_and_is_asked_logged_and_cancelled() -> None:
    Path("hello.sh").write_text("echo from the workspace\nsleep 600\n")
    handle = ran("run", "-s", "tony", "-cfg", LOCAL, "utils.sh", "--num_replicas", "2", "sh", "hello.sh")
    handle = handle.strip().splitlines()[-1]
    assert re.fullmatch(r"tony://torchx/local_\d+_\d+", handle)
    try:
        assert "from the workspace" in first_line_of(handle)
        assert "State: RUNNING" in ran("status", handle)
    finally:
        ran("cancel", handle)
    assert "State: CANCELLED" in torchx("status", handle).stdout


def test_a_dry_run_shows_the_job() -> None:
    Path("train.py").write_text("")
    shown = ran(
        *("run", "-s", "tony", "--dryrun", "-cfg", "queue=ml,conf=tony.am.max-attempts:3", "dist.ddp", "-j", "2x4"),
        *("--cpu", "3", "--memMB", "2048", "--max_retries", "2", "--script", "train.py"),
    )
    assert '"queue": "ml"' in shown
    assert '"tony.am.retry-count": 2' in shown
    assert '"tony.am.max-attempts": "3"' in shown
    assert "${MASTER_ADDR:=localhost}:29500" in shown
    assert '"memory": 2048' in shown


def test_torchx_keeps_its_own_schedulers() -> None:
    known: Any = ran("runopts")
    for name in ("tony", "local_cwd", "local_docker", "slurm", "kubernetes"):
        assert f"{name}:" in known


def test_the_replica_that_failed_first_has_failed_though_another_ended_before() -> None:
    program = """
        import tony_ts_torchx
        cause = {"task": "train:1", "summary": "train:1 failed", "lines": [], "atMs": 1000}
        tasks = [{"task": "train:0", "state": "failed"}, {"task": "train:1", "state": "stopped", "exit": "1"}]
        for replica in tony_ts_torchx._replicas({"outcome": {"cause": cause}, "tasks": tasks}, "train"):
            print(replica.state.name, "train:1 failed" in replica.structured_error_msg)
        """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, check=False)
    assert done.stdout.split("\n") == ["FAILED False", "FAILED True", ""], done.stderr
