"""Files at a path, or at a URL that fsspec knows."""

from __future__ import annotations

import importlib
import os
import shutil
from typing import Any, BinaryIO, cast


def _located(place: str) -> tuple[Any, str]:
    """The file system of a URL, None for a path; and the path on it."""
    if "://" not in place:
        return None, place
    try:
        core: Any = importlib.import_module("fsspec.core")
    except ImportError:
        message = f"{place}: install fsspec (and pyarrow for HDFS) in the tasks' environment, or give a path"
        raise ModuleNotFoundError(message) from None
    system, path = core.url_to_fs(place)
    return system, str(path)


def names(folder: str) -> list[str]:
    """The names of a folder's entries; none where there is no such folder."""
    system, path = _located(folder)
    if system is None:
        return os.listdir(path) if os.path.isdir(path) else []
    return [os.path.basename(str(entry)) for entry in system.ls(path, detail=False)] if system.exists(path) else []


def opened(place: str) -> BinaryIO:
    system, path = _located(place)
    return open(path, "rb") if system is None else cast(BinaryIO, system.open(path, "rb"))


def put(source: str, place: str) -> None:
    """Copies a file. It appears under its name only when it is complete."""
    system, path = _located(place)
    part = f"{path}.part"
    if system is None:
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        shutil.copyfile(source, part)
        os.replace(part, path)
        return
    system.makedirs(os.path.dirname(path), exist_ok=True)
    system.put_file(source, part)
    system.mv(part, path)
