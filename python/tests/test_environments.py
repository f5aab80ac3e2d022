"""Environments that are sent to tasks, run by jobs of this machine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import tony_ts
from tony_ts import JobInvalid, Role

RELEASE = f"python{sys.version_info[0]}.{sys.version_info[1]}"


@pytest.fixture
def venv() -> Path:
    folder = Path("env").absolute()
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    return folder


def install_editable(venv: Path, name: str, project: Path, **files: str) -> None:
    """As installers do: a note of where it is, and files that lead there."""
    site = venv / "lib" / RELEASE / "site-packages"
    about = site / f"{name}-1.0.dist-info"
    about.mkdir()
    note = {"url": project.as_uri(), "dir_info": {"editable": True}}
    (about / "direct_url.json").write_text(json.dumps(note))
    for file, text in files.items():
        (site / file).write_text(text)
    (about / "RECORD").write_text("".join(f"{file},,\n" for file in files))


def module(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def test_editable_packages_travel_beside_the_environment_so_an_edit_sends_them_alone(venv: Path) -> None:
    project = Path("my project").absolute()
    module(project / "src" / "shapes" / "__init__.py", "AREA = 9\n")
    install_editable(venv, "shapes", project, **{"_shapes.pth": f"{project}/src\n"})
    flat = Path("flat").absolute()
    module(flat / "lengths.py", "SIDE = 3\n")
    module(flat / "tests" / "test_lengths.py", "")
    module(flat / "setup.py", "")
    install_editable(venv, "lengths", flat, **{"lengths.pth": f"{flat}\n"})
    other = Path("other").absolute()
    module(other / "colours" / "__init__.py", "RED = 'red'\n")
    finder = f"MAPPING: dict[str, str] = {{'colours': '{other}/colours'}}\n"
    editable = {"__editable___colours_finder.py": finder, "__editable__.colours-1.0.pth": "import sys\n"}
    install_editable(venv, "colours", other, **editable)

    environment = tony_ts.package(venv)
    assert environment.path == str(venv)
    assert environment.python == RELEASE[len("python") :]
    assert set(environment.sources) == {f"{project}/src/shapes", f"{flat}/lengths.py", f"{other}/colours"}

    program = "import colours, lengths, shapes; print(shapes.AREA, lengths.SIDE, colours.RED, shapes.__file__)"
    command = ["venv/bin/python", "-c", program]
    job = tony_ts.submit(command, python_venv=environment, memory="256m", scheduler="local")
    job.wait()
    [line] = job.logs()
    assert line.line.startswith("9 3 red /")
    assert str(project) not in line.line
    module(project / "src" / "shapes" / "__init__.py", "AREA = 16\n")
    role = Role(command, memory="256m", python_venv=tony_ts.package(venv))
    job = tony_ts.submit(roles={"worker": role}, scheduler="local")
    job.wait()
    assert next(job.logs()).line.startswith("16 3 red ")


def test_an_environment_is_made_of_requirements_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with zipfile.ZipFile("shapes-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("shapes.py", "AREA = 9\n")
        wheel.writestr("shapes-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: shapes\nVersion: 1.0\n")
        wheel.writestr("shapes-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr("shapes-1.0.dist-info/RECORD", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", os.getcwd())
    made = tony_ts.package(requirements=["shapes==1.0"])
    program = [f"{made.path}/bin/python", "-c", "import shapes; print(shapes.AREA)"]
    assert subprocess.run(program, stdout=subprocess.PIPE, check=True).stdout == b"9\n"
    Path("requirements.txt").write_text("shapes==1.0\n")
    monkeypatch.setattr("tony_ts.environments._install", None)
    assert tony_ts.package(requirements="requirements.txt") == made
    monkeypatch.undo()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with pytest.raises(JobInvalid, match="no-such-package"):
        tony_ts.package(requirements=["no-such-package"])
    assert len(list((tmp_path / "cache" / "tony-ts" / "environments").iterdir())) == 1


def test_what_is_broken_is_said_before_anything_is_sent(venv: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(JobInvalid, match="no such file or folder"):
        tony_ts.package("nowhere")
    Path("empty").mkdir()
    with pytest.raises(JobInvalid, match=r"empty is no Python environment: it has no bin/python"):
        tony_ts.package("empty")
    monkeypatch.setattr(sys, "prefix", sys.base_prefix)
    with pytest.raises(JobInvalid, match="runs in no virtual environment"):
        tony_ts.package()
    install_editable(venv, "gone", Path("gone").absolute(), **{"gone.pth": "/nowhere/src\n"})
    with pytest.raises(JobInvalid, match=r"gone is installed with -e from /\S+/gone, and its modules are not there"):
        tony_ts.package(venv)
    (venv / "bin" / "python").unlink()
    (venv / "bin" / "python").symlink_to("/nowhere/python3")
    (venv / "lib" / RELEASE / "site-packages" / "gone-1.0.dist-info" / "direct_url.json").unlink()
    with pytest.raises(JobInvalid, match=r"env/bin/python does not run: .* make the environment again"):
        tony_ts.package(venv)


def test_a_function_is_not_sent_to_another_release(venv: Path) -> None:
    other = tony_ts.Environment(str(venv), python="3.7")
    with pytest.raises(JobInvalid, match=r"env has Python 3\.7, and this program runs in 3\."):
        tony_ts.submit(lambda: None, python_venv=other, memory="256m", scheduler="local")


def test_an_archive_or_a_pex_is_sent_as_it_is() -> None:
    Path("env.pex").write_bytes(b"")
    assert tony_ts.package("env.pex") == tony_ts.Environment(os.path.abspath("env.pex"))


def test_a_function_is_not_sent_to_an_environment_that_does_not_run_here(venv: Path) -> None:
    """Such as one of another platform, where only its folder is named."""
    (venv / "bin" / "python").unlink()
    (venv / "bin" / "python").write_bytes(b"\x7fELF\x02\x01\x01" + bytes(11) + b"\xb7\x00" + bytes(44))
    (venv / "bin" / "python").chmod(0o755)
    with pytest.raises(
        JobInvalid, match=r"env/bin/python does not run: .*Exec format error.* make the environment again"
    ):
        tony_ts.submit(lambda: None, python_venv=venv, memory="256m", scheduler="local")
