"""Python environments of tasks. The command line sends each once, until it changes; this is what it cannot know."""

from __future__ import annotations

import ast
import glob
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from typing import Iterator, Mapping, Sequence, Union
from urllib.parse import unquote

from .errors import JobInvalid, told_plainly
from .functions import cache_folder, forget_older

#: A path, in any form that functions of the standard library take.
Path = Union[str, "os.PathLike[str]"]

_KEPT_S = 30 * 24 * 3600
#: Folders beside packages in a project's folder that are no packages.
_NO_PACKAGES = {"build", "dist", "docs", "examples", "test", "tests", "venv"}
_NO_MODULES = {"conftest.py", "noxfile.py", "setup.py", "tasks.py"}


@dataclass(frozen=True)
class Environment:
    """A Python environment for ``submit(python_venv=…)``; ``package()`` makes one."""

    path: str
    #: Packages and modules that are installed with ``-e``: they are sent separately, so that an edit sends only them.
    sources: tuple[str, ...] = ()
    #: ``3.11``; None where that is not known.
    python: str | None = None

    def __fspath__(self) -> str:
        return self.path


@told_plainly
def package(environment: Path | None = None, *, requirements: Path | Sequence[str] | None = None) -> Environment:
    """
    A Python environment for tasks, with its editable packages (``-e``), whose modules lie elsewhere. Raises at once if
    something is wrong with it.

    :param environment: the folder of an environment made by venv, virtualenv, uv or conda. Or an archive, as of
        conda-pack, or a PEX. Default: the environment that this program runs in
    :param requirements: instead of an existing environment: what pip is to install into a new one, as a file or as the
        lines that its ``freeze`` prints. It is made once for the same lines and the same Python
    """
    if requirements is not None:
        if environment is not None:
            raise JobInvalid("package() takes an environment or requirements, not both", code="JOB_INVALID")
        return package(_installed(requirements))
    folder = os.path.abspath(environment) if environment is not None else _own()
    if os.path.isfile(folder):
        return Environment(folder)
    if not os.path.isdir(folder):
        raise JobInvalid(f"package({folder!r}): there is no such file or folder", code="JOB_INVALID")
    return Environment(folder, tuple(dict.fromkeys(_sources(folder))), _release(folder))


def beside(environment: Path | None, variables: Mapping[str, str]) -> tuple[Sequence[str], Mapping[str, str]]:
    """What is sent with an environment: files, and the variables extended so that Python finds these."""
    sources = environment.sources if isinstance(environment, Environment) else ()
    if not sources:
        return (), variables
    path = ":".join(filter(None, [".", variables.get("PYTHONPATH")]))
    return sources, {**variables, "PYTHONPATH": path}


def check_release(environment: Path | None, name: str) -> None:
    """Raises where a function would be sent to another release of Python."""
    own = ".".join(map(str, sys.version_info[:2]))
    if environment is None:
        return
    there = environment.python if isinstance(environment, Environment) else _release_if_folder(environment)
    if there not in (None, own):
        message = (
            f"{os.fspath(environment)} has Python {there}, and this program runs in {own}: functions ({name}) "
            "travel between equal releases only. Submit from that environment, or give a command"
        )
        raise JobInvalid(message, code="FUNCTION_INVALID")


def _own() -> str:
    if sys.prefix == sys.base_prefix and not os.path.isdir(os.path.join(sys.prefix, "conda-meta")):
        message = (
            "This program runs in no virtual environment, and what is installed beside it may be the system's: name "
            "one, package('/path/to/venv'), or what to install, package(requirements=['torch==2.8.0'])"
        )
        raise JobInvalid(message, code="JOB_INVALID")
    return sys.prefix


def _release_if_folder(environment: Path) -> str | None:
    """An archive or a PEX is not opened for it."""
    folder = os.path.abspath(environment)
    return _release(folder) if os.path.isdir(folder) else None


def _release(folder: str) -> str:
    """Asks its Python, which shows that it runs."""
    python = os.path.join(folder, "bin", "python")
    if not os.path.lexists(python):
        message = f"{folder} is no Python environment: it has no bin/python. Make one with `python3 -m venv {folder}`"
        raise JobInvalid(message, code="JOB_INVALID")
    program = "import sys; print('%d.%d' % sys.version_info[:2])"
    try:
        return subprocess.run([python, "-c", program], capture_output=True, check=True, text=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError) as error:
        said = error.stderr.strip() if isinstance(error, subprocess.CalledProcessError) else str(error)
        message = (
            f"{python} does not run: {said}. The Python that it was made from may have been removed, or it was made "
            "for another machine: make the environment again"
        )
        raise JobInvalid(message, code="JOB_INVALID") from None


def _sources(folder: str) -> Iterator[str]:
    for noted in sorted(glob.glob(f"{glob.escape(folder)}/lib/python*/site-packages/*.dist-info/direct_url.json")):
        with open(noted, encoding="utf-8") as file:
            origin = json.load(file)
        if not origin.get("dir_info", {}).get("editable"):
            continue
        about = os.path.dirname(noted)
        project = unquote(str(origin["url"]).partition("file://")[2])
        found = list(_editable(about, project))
        if not found:
            name = os.path.basename(about).partition("-")[0]
            message = (
                f"{name} is installed with -e from {project}, and its modules are not there: install it without -e"
            )
            raise JobInvalid(message, code="JOB_INVALID")
        yield from found


def _editable(about: str, project: str) -> Iterator[str]:
    """Its packages and modules: from a list of folders, or from the table of a finder, which setuptools writes."""
    site = os.path.dirname(about)
    with open(os.path.join(about, "RECORD"), encoding="utf-8") as record:
        files = [line.partition(",")[0] for line in record]
    for name in files:
        if name.endswith(".pth"):
            with open(os.path.join(site, name), encoding="utf-8") as listed:
                folders = [line.strip() for line in listed if line.strip() and not line.startswith(("import ", "#"))]
            for folder in (os.path.join(site, folder) for folder in folders):
                if os.path.isdir(folder):
                    yield from _importable(folder, about, project)
        elif name.startswith("__editable__") and name.endswith(".py"):
            yield from _mapped(os.path.join(site, name))


def _importable(folder: str, about: str, project: str) -> Iterator[str]:
    names = _names(about)
    is_project = os.path.realpath(folder) == os.path.realpath(project)
    for entry in sorted(os.scandir(folder), key=lambda one: one.name):
        if (entry.name.partition(".")[0] in names) if names else _is_importable(entry, is_project):
            yield entry.path


def _is_importable(entry: os.DirEntry[str], beside_setup: bool) -> bool:
    """As far as can be known where the project does not say what it consists of."""
    if entry.is_dir():
        if not entry.name.isidentifier() or (beside_setup and entry.name in _NO_PACKAGES):
            return False
        return bool(glob.glob(f"{glob.escape(entry.path)}/**/*.py", recursive=True))
    return entry.name.endswith((".py", ".so")) and not (beside_setup and entry.name in _NO_MODULES)


def _names(about: str) -> set[str]:
    try:
        with open(os.path.join(about, "top_level.txt"), encoding="utf-8") as file:
            return set(file.read().split())
    except FileNotFoundError:
        return set()


def _mapped(finder: str) -> Iterator[str]:
    with open(finder, encoding="utf-8") as file:
        tree = ast.parse(file.read())
    tables = [
        ast.literal_eval(statement.value)
        for statement in tree.body
        if isinstance(statement, ast.AnnAssign)
        and isinstance(statement.target, ast.Name)
        and statement.target.id == "MAPPING"
        and statement.value is not None
    ]
    places: list[str] = [place for table in tables for place in table.values()]
    # A module is named without its extension.
    yield from (place if os.path.exists(place) else f"{place}.py" for place in places)


def _installed(requirements: Path | Sequence[str]) -> str:
    if isinstance(requirements, (str, os.PathLike)):
        with open(requirements, encoding="utf-8") as file:
            lines = file.read().splitlines()
    else:
        lines = list(requirements)
    root = cache_folder("environments")
    os.makedirs(root, mode=0o700, exist_ok=True)
    forget_older(root, _KEPT_S)
    folder = os.path.join(root, hashlib.sha256(json.dumps([lines, sys.version, sys.base_prefix]).encode()).hexdigest())
    if not os.path.isdir(folder):
        _install(lines, root, folder)
    os.utime(folder)
    return folder


def _install(lines: Sequence[str], root: str, folder: str) -> None:
    draft = tempfile.mkdtemp(dir=root)
    try:
        _runs([sys.executable, "-m", "venv", "--copies", draft])
        asked = os.path.join(draft, "requirements.txt")
        with open(asked, "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
        pip = [os.path.join(draft, "bin", "python"), "-m", "pip", "--disable-pip-version-check"]
        _runs([*pip, "install", "--quiet", "-r", asked])
        os.rename(draft, folder)
    except OSError:
        # Another process has made the same one meanwhile.
        if not os.path.isdir(folder):
            raise
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _runs(words: Sequence[str]) -> None:
    ran = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, text=True)
    if ran.returncode != 0:
        last = "\n".join(ran.stdout.strip().splitlines()[-5:])
        raise JobInvalid(f"package(): `{' '.join(words[1:4])} …` failed:\n{last}", code="JOB_INVALID")
