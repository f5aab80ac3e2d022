"""Functions as programs of a job: how one is sent to the tasks, and what these run."""

from __future__ import annotations

import functools
import glob
import hashlib
import importlib
import importlib.util
import inspect
import io
import json
import linecache
import os
import pickle
import pickletools
import shlex
import shutil
import sys
import sysconfig
import tempfile
import time
import zipfile
from collections import ChainMap
from dataclasses import dataclass
from pathlib import PurePosixPath
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any, Callable, Iterable, Iterator, Mapping, Sequence

from .errors import JobInvalid

#: What a task may run instead of a command. ``functools.partial`` gives it arguments.
Function = Callable[[], object]

#: Makes a file of a name and a content, and returns its path.
Put = Callable[[str, bytes], str]

#: The program that runs it, in a task's working directory.
RUNNER = "tony_ts_function.py"
#: This package, for functions that use it.
PACKAGE = "tony_ts.zip"
#: The node's Python, or the one that the program's environment names.
PYTHON = '"${PYTHON:-python3}"'
_RUNNER = os.path.join(os.path.dirname(__file__), "run_function.py")

#: As long as the command line keeps a job of this machine.
_KEPT_S = 7 * 24 * 3600

#: What to do about a function that only cloudpickle could send.
_HAS_NO_PLACE = "pip install cloudpickle, or move the function into a file of its own and import it"

#: The oldest Python that the package supports can read it.
_PROTOCOL = 4


@dataclass(frozen=True)
class Parcel:
    """A function to be sent: the file that contains it, and the paths of the modules that it needs."""

    name: str
    content: bytes
    modules: tuple[str, ...]
    #: Whether the function uses this package, which tasks then get.
    needs_package: bool
    #: Whether more than its name is sent, which requires the same release of Python in the tasks.
    by_value: bool

    def command(self, environment: str | None) -> str:
        """What a task runs. Without an environment, the node's ``python3`` or what the variable PYTHON names."""
        python = PYTHON
        if environment is not None:
            name = PurePosixPath(environment).name
            python = shlex.quote(f"./{name}") if name.endswith(".pex") else "venv/bin/python"
        return f"{python} {RUNNER} {self.name}"

    def files(self, put: Put) -> list[str]:
        """Everything that a task needs, as resources."""
        package = [put(PACKAGE, package_zip())] if self.needs_package else []
        return [put(self.name, self.content), f"{_RUNNER}::{RUNNER}", *self.modules, *package]


def put_into(folder: str) -> Put:
    """Writes files into a folder."""

    def put(name: str, content: bytes) -> str:
        place = os.path.join(folder, name)
        with tempfile.NamedTemporaryFile(dir=folder, delete=False) as file:
            file.write(content)
        # Other processes may read it meanwhile, or write the same file.
        os.replace(file.name, place)
        return place

    return put


def keep(name: str, content: bytes) -> str:
    """Writes a file for a job of this machine, whose tasks read it when they start: it is kept for a week."""
    root = cache_folder("functions")
    folder = os.path.join(root, hashlib.sha256(content).hexdigest())
    os.makedirs(folder, mode=0o700, exist_ok=True)
    forget_older(root, _KEPT_S)
    return put_into(folder)(name, content)


@functools.lru_cache(maxsize=1)
def package_zip() -> bytes:
    """Without the programs, which tasks do not run; the bytes are the same each time."""
    root = os.path.dirname(__file__)
    found = (os.path.relpath(file, root) for file in glob.glob(f"{glob.escape(root)}/**/*.py", recursive=True))
    sources = [source for source in found if not source.startswith("npm/")]
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as package:
        for source in sorted(sources):
            with open(os.path.join(root, source), "rb") as code:
                package.writestr(zipfile.ZipInfo(f"{__package__}/{source}"), code.read())
    return packed.getvalue()


def cache_folder(what: str) -> str:
    """The user's own."""
    return os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "tony-ts", what)


def forget_older(root: str, seconds: float) -> None:
    for entry in os.scandir(root):
        if time.time() - entry.stat().st_mtime > seconds:
            shutil.rmtree(entry.path, ignore_errors=True)


def check_runs(function: Callable[..., object], *arguments: object) -> None:
    """
    Checks that a task can call it with these arguments, and that the call does all the work.

    :raises JobInvalid: the call would run nothing
    """
    called, name = _called(function), _name(function)
    if inspect.isgeneratorfunction(called) or inspect.isasyncgenfunction(called):
        message = (
            f"{name}() is a generator, of which nothing would run in a task: "
            "submit a function that reads it to its end (for step in …)"
        )
        raise JobInvalid(message, code="FUNCTION_INVALID")
    if inspect.iscoroutinefunction(called):
        message = f"{name}() is async, which nothing would await in a task: submit a function that calls asyncio.run(…)"
        raise JobInvalid(message, code="FUNCTION_INVALID")
    _check_arguments(function, name, arguments)


def _check_arguments(function: Callable[..., object], name: str, arguments: tuple[object, ...]) -> None:
    called, named = function, {}
    if isinstance(function, functools.partial):
        called, arguments, named = function.func, (*function.args, *arguments), function.keywords
    try:
        signature = inspect.signature(called)
    except (TypeError, ValueError):
        # A function written in C may not say what it takes.
        return
    try:
        given = signature.bind_partial(*arguments, **named).arguments
    except TypeError as error:
        raise JobInvalid(f"{name}() cannot be called as it is: {error}", code="FUNCTION_INVALID") from None
    missing = [
        parameter.name
        for parameter in signature.parameters.values()
        if parameter.default is parameter.empty
        and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        and parameter.name not in given
    ]
    if missing:
        partial = ", ".join([name if name.isidentifier() else "…", *(f"{parameter}=…" for parameter in missing)])
        message = f"{name}() is called without {' and '.join(missing)}, which it needs: functools.partial({partial})"
        raise JobInvalid(message, code="FUNCTION_INVALID")


def _called(function: object) -> object:
    """The function that a call runs: for an object, its method."""
    inner = _unwrapped(function)
    return type(inner).__call__ if callable(inner) and not isinstance(inner, (FunctionType, type)) else inner


def parcel(function: Function, role: str | None) -> Parcel:
    """
    :param role: the only one that runs it
    :raises JobInvalid: it cannot be sent; the message names the part that cannot
    """
    library = _cloudpickle()
    given = _given(function)
    if library is None:
        _check_has_a_place(given)
    check_runs(function)
    own = dict(_own(given, _name(given)))
    try:
        content = dumps(function)
    except Exception as error:
        raise _cannot_travel(given, own, error) from None
    head = {
        "name": _name(given),
        "python": list(sys.version_info[:2]),
        "byValue": library is not None,
        "sources": {file: "".join(linecache.getlines(file)) for file in sorted(_source_files(own.values()))},
    }
    name = "tony_ts_function.pickle" if role is None else f"tony_ts_function_{role}.pickle"
    words = set(_words(content))
    local, needs_package = _local_modules(words)
    modules = [*local, *([] if library is None else [_place(library)])]
    return Parcel(name, json.dumps(head).encode() + b"\n" + content, tuple(modules), needs_package, library is not None)


def dumps(value: object) -> bytes:
    """By cloudpickle where that is installed."""
    library = _cloudpickle()
    if library is None:
        return pickle.dumps(value, protocol=_PROTOCOL)
    content = io.BytesIO()
    _pickler(library)(content, protocol=_PROTOCOL).dump(value)
    return content.getvalue()


@functools.lru_cache(maxsize=1)
def _pickler(library: ModuleType) -> Any:
    """
    cloudpickle's, with one change: since 3.1.3 cloudpickle replaces the file name of code, by which tracebacks find its
    lines, with a placeholder.
    """
    reducers = library.CloudPickler.dispatch_table

    def reduce(code: CodeType) -> tuple[object, tuple[object, ...]]:
        make, parts = reducers[CodeType](code)
        return make, tuple(code.co_filename if part == "<dynamic-code>" else part for part in parts)

    table = ChainMap({CodeType: reduce}, reducers)
    return type("Pickler", (library.CloudPickler,), {"dispatch_table": table})


def _cloudpickle() -> ModuleType | None:
    try:
        return importlib.import_module("cloudpickle")
    except ImportError:
        return None


def _check_has_a_place(function: Function) -> None:
    """Without cloudpickle only a name is sent, and a task looks for it in a module."""
    inner = _unwrapped(function)
    module, qualified = getattr(inner, "__module__", None), getattr(inner, "__qualname__", "<")
    if module in (None, "__main__") or "<" in qualified:
        message = f"{_name(function)}() is not at the top of a module, where tasks could import it: {_HAS_NO_PLACE}"
        raise JobInvalid(message, code="FUNCTION_INVALID")


def _given(function: Function) -> Function:
    """
    The caller's own function, where one of this package wraps it, as those of ``run_on_yarn()`` do: messages name it.
    """
    given: Function = function
    if isinstance(function, functools.partial) and _top(function.func.__module__) == __package__:
        wrapped = next(filter(callable, function.args), None)
        return given if wrapped is None else _given(wrapped)
    return given


def _unwrapped(function: object) -> object:
    while isinstance(function, functools.partial):
        function = function.func
    return function.__func__ if isinstance(function, MethodType) else function


def _name(function: object) -> str:
    inner = _unwrapped(function)
    return str(getattr(inner, "__name__", type(inner).__name__))


def _own(value: object, path: str) -> Iterator[tuple[str, object]]:
    """What a function uses by name, and what the functions of the same program that it calls use: ``train → lock``."""
    seen: set[int] = set()

    def visit(value: object, path: str) -> Iterator[tuple[str, object]]:
        if id(value) in seen:
            return
        seen.add(id(value))
        yield path, value
        if isinstance(value, functools.partial):
            yield from visit(value.func, path)
            for index, argument in enumerate(value.args):
                yield from visit(argument, f"{path} → argument {index + 1}")
            for name, argument in value.keywords.items():
                yield from visit(argument, f"{path} → {name}=")
        elif isinstance(value, MethodType):
            yield from visit(value.__func__, path)
            for name, member in getattr(value.__self__, "__dict__", {}).items():
                yield from visit(member, f"{path} → self.{name}")
        elif isinstance(value, FunctionType) and not _is_by_reference(value):
            variables = inspect.getclosurevars(value)
            for name, used in {**variables.globals, **variables.nonlocals}.items():
                yield from visit(used, f"{path} → {name}")
        elif isinstance(value, type) and value.__module__ == "__main__":
            for name, member in vars(value).items():
                if isinstance(member, FunctionType):
                    yield from visit(member, f"{path}.{name}")

    return visit(value, path)


def _is_by_reference(function: FunctionType) -> bool:
    return function.__module__ != "__main__" and "<" not in function.__qualname__


def _cannot_travel(function: Function, own: Mapping[str, object], error: Exception) -> JobInvalid:
    """Names the innermost things that cannot be sent: whatever contains them cannot either."""
    failing = {path: reason for path, value in own.items() if (reason := _why_not(value))}
    innermost = [path for path in failing if not any(other.startswith((f"{path} → ", f"{path}.")) for other in failing)]
    named = [path for path in innermost if path != _name(function)]
    said = [f"  {path} ({type(own[path]).__name__}): {failing[path]}" for path in named] or [f"  {error}"]
    to_mend = "Make it inside the function, where each task then has its own."
    if _cloudpickle() is None and any(isinstance(own[path], FunctionType) for path in named):
        to_mend = f"To mend it: {_HAS_NO_PLACE}"
    said = [f"{_name(function)}() cannot be sent to the tasks, because of what it uses:", *said, to_mend]
    return JobInvalid("\n".join(said), code="FUNCTION_INVALID")


def _why_not(value: object) -> str | None:
    try:
        dumps(value)
    except Exception as error:
        return str(error)
    return None


def _source_files(values: Iterable[object]) -> set[str]:
    """Tracebacks show lines of the files that functions come from, including a notebook's cells, which no task has."""
    return {value.__code__.co_filename for value in values if isinstance(value, FunctionType)}


def _local_modules(words: Iterable[str]) -> tuple[list[str], bool]:
    """
    The user's own modules that a function refers to, and those that these use: files and folders to ship. And whether
    the function, or one of them, uses this package.
    """
    seen: set[str] = set()
    places: list[str] = []

    def visit(name: str) -> None:
        top = _top(name)
        if top in seen:
            return
        seen.add(top)
        module = sys.modules.get(top)
        if module is None or not _is_local(module):
            return
        places.append(_place(module))
        members = [vars(part) for loaded, part in list(sys.modules.items()) if f"{loaded}.".startswith(f"{top}.")]
        for member in [member for each in members for member in list(each.values())]:
            used = member.__name__ if isinstance(member, ModuleType) else getattr(member, "__module__", None)
            if isinstance(used, str):
                visit(used)

    for word in words:
        visit(word)
    return sorted(places), __package__ in seen


def _words(content: bytes) -> Iterator[str]:
    """Contains everything that a pickle refers to by name."""
    for _, argument, _ in pickletools.genops(content):
        if isinstance(argument, str):
            yield from argument.split()


def _top(name: str) -> str:
    return name.partition(".")[0]


def _place(module: ModuleType) -> str:
    """The file or the folder of a top-level module."""
    folders: Sequence[str] = list(getattr(module, "__path__", ()))
    return os.path.abspath(folders[0]) if folders else os.path.abspath(str(module.__file__))


def module_files(name: str) -> list[str]:
    """
    A module of the user's own, as a file or a folder to ship, without running it; none where it is not the user's.
    """
    found = importlib.util.find_spec(_top(name))
    folders = [] if found is None else [*(found.submodule_search_locations or ())]
    place = folders[0] if folders else None if found is None or not found.has_location else found.origin
    return [os.path.abspath(place)] if place is not None and _is_users(os.path.abspath(place)) else []


def _is_local(module: ModuleType) -> bool:
    """Neither part of Python nor installed: what an environment would bring is not the user's own."""
    if module.__name__ in ("__main__", __package__) or not (
        getattr(module, "__file__", None) or hasattr(module, "__path__")
    ):
        return False
    return _is_users(_place(module))


def _is_users(place: str) -> bool:
    installed = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    inside = any(place.startswith(f"{os.path.abspath(folder)}/") for folder in installed)
    return not inside and not {"site-packages", "dist-packages"} & set(PurePosixPath(place).parts)
