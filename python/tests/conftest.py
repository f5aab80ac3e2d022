"""Every test runs the built command line: without a cluster, but for those of the folder ``cluster``."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = ROOT / "dist" / "programs"


@pytest.fixture(autouse=True)
def _alone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    alone(monkeypatch, tmp_path, has_cluster=request.path.parent.name == "cluster")


def alone(patch: pytest.MonkeyPatch, folder: Path, *, has_cluster: bool = False) -> None:
    """In an empty folder, without traces in the user's home; also what several tests share."""
    patch.setenv("TONY_TS", str(PROGRAMS / "tony-ts.cjs"))
    patch.setenv("PYTHONPATH", str(ROOT / "python" / "src"))
    patch.setenv("XDG_STATE_HOME", str(folder / "state"))
    if not has_cluster:
        # What was compiled of the programs is compiled once.
        patch.setenv("XDG_CACHE_HOME", str(folder.parent / "cache"))
        patch.setenv("HADOOP_CONF_DIR", str(folder / "no-cluster"))
    work = folder / "work"
    work.mkdir()
    patch.chdir(work)
