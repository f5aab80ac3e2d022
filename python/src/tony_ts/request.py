"""A call of ``submit()`` as a job file and words of the command line. Nothing is read or started here."""

from __future__ import annotations

import difflib
import os
import re
import shlex
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Callable, Iterator, Mapping, Sequence, Union, cast
from xml.sax.saxutils import escape

from .environments import Path, beside
from .errors import JobInvalid
from .functions import Function

#: A shell command, or its words.
Command = Union[str, Sequence[str]]
#: A key's value; a list for a key that is one.
Value = Union[str, int, float, bool, Sequence[str]]


@dataclass(frozen=True)
class Role:
    """One kind of task: how many there are, what each runs, and its resources."""

    command: Command | Function | None = None
    instances: int | None = None
    #: ``"8g"``, ``"512m"``, or a number of MiB.
    memory: int | str | None = None
    vcores: int | None = None
    gpus: int | None = None
    files: Sequence[Path] = ()
    env: Mapping[str, str] = field(default_factory=lambda: {})
    #: Its own environment, which appears as ``venv/``; or a PEX.
    python_venv: Path | None = None
    #: What the shell does before the command: ``"module load cuda"``.
    before: str | None = None


@dataclass(frozen=True)
class Setting:
    """A key of the job, and the argument that it comes from."""

    key: str
    value: str
    argument: str


@dataclass(frozen=True)
class Request:
    """The job's file with the settings that override it, or the settings from which a file is to be written."""

    job_file: str | None
    settings: tuple[Setting, ...]


def is_job_file(job: object) -> bool:
    """A path object, or a text that consists only of the path or URL of an XML file."""
    if isinstance(job, os.PathLike):
        return True
    return isinstance(job, str) and re.fullmatch(r"\S+\.xml", job) is not None


def request(
    job: Command | Path | None,
    role: Role,
    *,
    roles: Mapping[str, Role] | None,
    framework: str | None,
    conf: Mapping[str, Value],
    added: Sequence[Setting] = (),
) -> Request:
    """
    Checks how the arguments fit together, but not their content: the command line does that in the same way for every
    caller.
    """
    job_file = os.fspath(job) if isinstance(job, (str, os.PathLike)) and is_job_file(job) else None
    settings: list[Setting] = []
    if job_file is None:
        settings += _of_command(job, role, roles)
        settings.append(Setting("tony.application.framework", framework or "generic", "framework"))
    else:
        settings += _of_file(role, roles)
        if framework is not None:
            settings.append(Setting("tony.application.framework", framework, "framework"))
    settings += [*_shared(role), *added]
    settings += (Setting(key, _text(value), "conf") for key, value in conf.items())
    return Request(job_file, tuple(settings))


def _of_command(job: object, role: Role, roles: Mapping[str, Role] | None) -> Iterator[Setting]:
    if roles is None:
        if job is None:
            raise JobInvalid("submit() needs a command, a job file, or roles", code="JOB_INVALID")
        yield Setting("tony.worker.command", _command(job), "command")
        yield Setting("tony.worker.instances", str(1 if role.instances is None else role.instances), "instances")
        yield from _resources("worker", role, "")
        return
    if job is not None:
        yield Setting("tony.containers.command", _command(job), "command")
    yield from _of_roles(role, roles)


def _of_file(role: Role, roles: Mapping[str, Role] | None) -> Iterator[Setting]:
    if roles is not None:
        yield from _of_roles(role, roles)
        return
    if role.instances is not None:
        yield Setting("tony.worker.instances", str(role.instances), "instances")
    yield from _resources("worker", role, "")


def _of_roles(shared: Role, roles: Mapping[str, Role]) -> Iterator[Setting]:
    for name in ("instances", "memory", "vcores", "gpus"):
        if getattr(shared, name) is not None:
            message = f"submit({name}=…) is for a job of one role: with roles, write Role({name}=…)"
            raise JobInvalid(message, code="JOB_INVALID")
    for name, role in roles.items():
        at = "roles"
        key = f"tony.{name}"
        yield Setting(f"{key}.instances", str(1 if role.instances is None else role.instances), at or "instances")
        if role.command is not None:
            before = "" if role.before is None else f"{role.before}\n"
            yield Setting(f"{key}.command", before + _command(role.command), at or "command")
        yield from _resources(name, role, at)
        sources, variables = beside(role.python_venv, role.env)
        environment = [] if role.python_venv is None else [_as_venv(os.fspath(role.python_venv))]
        files = [*listed(role.files), *environment, *sources]
        if files:
            yield Setting(f"{key}.resources", _paths(files), at or "files")
        if variables:
            yield Setting(f"{key}.envs", _variables(variables), at or "env")


def _resources(name: str, role: Role, at: str) -> Iterator[Setting]:
    amounts: dict[str, int | str | None] = {"memory": role.memory, "vcores": role.vcores, "gpus": role.gpus}
    for what, value in amounts.items():
        if value is not None:
            yield Setting(f"tony.{name}.{what}", str(value), at or what)


def _shared(role: Role) -> Iterator[Setting]:
    if role.files:
        yield Setting("tony.containers.resources", _paths(role.files), "files")
    if role.env:
        yield Setting("tony.execution.envs", _variables(role.env), "env")


def _as_venv(environment: str) -> str:
    if environment.endswith(".pex"):
        return environment
    return f"{environment}::venv" if os.path.isdir(environment) else f"{environment}::venv#archive"


def _command(command: object) -> str:
    """Words are quoted for the shell that runs them."""
    if isinstance(command, str):
        return command
    words = cast("Sequence[object]", command) if isinstance(command, (list, tuple)) else ()
    if words and all(isinstance(word, (str, os.PathLike)) for word in words):
        return " ".join(shlex.quote(os.fspath(cast(Path, word))) for word in words)
    raise JobInvalid(f"a command is a text or a list of texts, not {command!r}", code="JOB_INVALID")


def listed(files: Sequence[Path]) -> Sequence[Path]:
    """The files, unless they are given as a single path: a text would be taken for a list of letters."""
    if isinstance(files, str):
        raise JobInvalid(f"files is a list: write files=[{files!r}]", code="JOB_INVALID")
    return files


def _paths(files: Sequence[Path]) -> str:
    return ",".join(list_item(os.fspath(file)) for file in files)


def _variables(env: Mapping[str, str]) -> str:
    return ",".join(list_item(f"{name}={value}") for name, value in env.items())


def _text(value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (str, int, float)):
        return str(value)
    return ",".join(list_item(item) for item in value)


def list_item(text: str) -> str:
    """An item of a list: an unescaped comma would end it."""
    return text.replace(",", "\\,")


def unknown_arguments(function: str, unknown: Mapping[str, object], known: Sequence[str]) -> TypeError:
    """Python's error for an unknown argument, with what may have been meant."""
    name = next(iter(unknown))
    close = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {close[0]}=?" if close else "keys of a job go into conf={…}"
    return TypeError(f"{function}() has no argument {name}=: {hint}")


#: Unlike any name that people give their files, because messages are searched for it.
FILE_NAME = "tony-ts-submit.xml"


#: Rewrites messages about arguments of ``submit()`` for callers of a function that calls it, into their own arguments.
in_words_of: ContextVar[Callable[[str], str]] = ContextVar("in_words_of", default=str)


@dataclass(frozen=True)
class Origin:
    """Which argument of ``submit()`` each line of the job's file came from: the file itself no longer exists."""

    arguments: Mapping[int, str] = field(default_factory=lambda: {})
    #: The argument of each key, for messages that name no line when the job runs.
    keys: Mapping[str, str] = field(default_factory=lambda: {})
    words: Callable[[str], str] = str

    def told(self, text: str) -> str:
        """The same text, with the argument in place of the line."""
        if not self.arguments:
            return text
        pattern = rf"(?:[^\s(]*/)?{re.escape(FILE_NAME)}:(\d+)"
        told = re.sub(pattern, lambda at: f"submit({self.arguments.get(int(at[1]), 'conf')}=…)", text)
        # The files of functions are given in this way, besides those that the caller gives.
        return self.words(re.sub(r"(?<![\w-])-conf: (?=tony\.containers\.resources)", "submit(files=…): ", told))

    def told_later(self, text: str) -> str:
        """For messages of a submitted job, which name only keys."""

        def with_argument(key: re.Match[str]) -> str:
            argument = self.keys.get(key[0], "conf")
            return key[0] if argument == "conf" else f"{key[0]} (submit({argument}=…))"

        def reworded(line: str) -> str:
            return self.words(re.sub(r"\btony\.[\w.-]*\w", with_argument, line))

        # What stands between the first line and the remedy was written by the program.
        first, *rest = text.split("\n")
        if rest and rest[-1].startswith("To mend it: "):
            rest[-1] = reworded(rest[-1])
        return "\n".join([reworded(first), *rest])


#: For a job that was not made from arguments.
NO_FILE = Origin()


def job_xml(settings: Sequence[Setting]) -> tuple[str, Origin]:
    """A job's file, and where its lines come from."""
    text = "<configuration>\n"
    arguments: dict[int, str] = {}
    for setting in settings:
        if re.search("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", setting.value):
            message = f"submit({setting.argument}=…): a control character cannot be part of {setting.key}"
            raise JobInvalid(message, code="JOB_INVALID")
        first = text.count("\n") + 1
        key, value = escape(setting.key), escape(setting.value, {"\r": "&#13;"})
        text += f"<property><name>{key}</name><value>{value}</value></property>\n"
        for line in range(first, text.count("\n") + 1):
            arguments[line] = setting.argument
    keys = {setting.key: setting.argument for setting in settings}
    return f"{text}</configuration>\n", Origin(arguments, keys, in_words_of.get())
