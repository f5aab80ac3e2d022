"""Puts the built programs into the wheel, as the npm package has them, and gives it that package's version."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Iterator

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).resolve().parent.parent
#: Where the package of npm is in the wheel: programs look for its package.json above themselves.
PLACE = "tony_ts/npm"


def version() -> str:
    """The one version that everything of a release has."""
    manifest = json.loads((ROOT / "package.json").read_text(encoding="utf-8"))
    return str(manifest["version"])


class Programs(BuildHookInterface[Any]):
    """Needs ``npm run build`` before."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        # An editable install runs the programs that TONY_TS names.
        if version == "editable":
            return
        included = {str(file): f"{PLACE}/{file.relative_to(ROOT)}" for file in carried()}
        build_data["force_include"].update(included)


def carried() -> Iterator[Path]:
    programs = ROOT / "dist" / "programs"
    if not (programs / "tony-ts.cjs").exists():
        raise FileNotFoundError(f"{programs}/tony-ts.cjs is missing: run `npm run build` in {ROOT}")
    yield from (ROOT / name for name in ("package.json", "LICENSE", "NOTICE", "dist/sbom.cdx.json"))
    # `tony-ts init` copies its jobs from the examples.
    for folder in (programs, ROOT / "examples"):
        yield from (file for file in sorted(folder.rglob("*")) if file.is_file() and "__pycache__" not in file.parts)
    yield from koffi()


def koffi() -> Iterator[Path]:
    """What Kerberos is spoken with, without its sources: one binary for each platform that is installed here."""
    package = ROOT / "node_modules" / "koffi"
    patterns = ("package.json", "LICENSE.txt", "index.*js", "src/koffi/**/*.cjs", "src/koffi/**/*.js")
    yield from (file for pattern in patterns for file in sorted(package.glob(pattern)))
    for native in sorted((ROOT / "node_modules" / "@koromix").glob("koffi-linux-*")):
        yield from (file for file in sorted(native.rglob("*")) if file.is_file())
