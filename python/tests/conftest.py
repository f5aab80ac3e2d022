"""Every test runs the built command line: without a cluster, but for those of the folder ``cluster``."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = ROOT / "dist" / "programs"


@pytest.fixture(autouse=True)
def _alone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """In an empty folder, without traces in the user's home."""
    monkeypatch.setenv("TONY_TS", str(PROGRAMS / "tony-ts.cjs"))
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "python" / "src"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    if request.path.parent.name != "cluster":
        monkeypatch.setenv("HADOOP_CONF_DIR", str(tmp_path / "no-cluster"))
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
