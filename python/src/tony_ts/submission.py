"""Submits jobs."""

from __future__ import annotations

import contextlib
import logging
import os
import tempfile
from dataclasses import dataclass, replace
from typing import Any, Generator, Literal, Mapping, NoReturn, Sequence

from .environments import Path, beside, check_release
from .errors import TonyError, told_plainly
from .functions import Function, Parcel, keep, parcel, put_into
from .job import Job, kill_words
from .process import Child, run, turn
from .request import (
    FILE_NAME,
    Command,
    Origin,
    Request,
    Role,
    Setting,
    Value,
    job_xml,
    list_item,
    listed,
    request,
    unknown_arguments,
)

#: Messages of a submission: warnings about the job, what was uploaded.
logger = logging.getLogger("tony_ts")

#: The reason for ending a job that was accepted while its submission was interrupted.
WITHDRAWN = "its submission was interrupted"


@told_plainly
def submit(
    job: Command | Path | Function | None = None,
    *,
    instances: int | None = None,
    memory: int | str | None = None,
    vcores: int | None = None,
    gpus: int | None = None,
    roles: Mapping[str, Role] | None = None,
    framework: str | None = None,
    files: Sequence[Path] = (),
    src_dir: Path | None = None,
    python_venv: Path | None = None,
    env: Mapping[str, str] | None = None,
    secrets: Mapping[str, str] | None = None,
    conf: Mapping[str, Value] | None = None,
    name: str | None = None,
    queue: str | None = None,
    resume_from: str | None = None,
    application_tag: str | None = None,
    scheduler: Literal["yarn", "local"] = "yarn",
    **unknown: NoReturn,
) -> Job:
    """
    Submits a job, and returns it when it has been accepted. It runs by itself from then on.

    Ctrl-C, or another exception in between, withdraws the submission: nothing is left on the cluster.

    :param job: what each task runs: a command, as a text for the shell or a list of words; or a function without
        arguments. Or a job's file: a path object, or a text that ends in ``.xml``. Arguments given in addition to a
        file override it
    :param instances: how many tasks; 1 for a command
    :param memory: of each: ``"8g"``, ``"512m"``, or a number of MiB
    :param vcores: of each
    :param gpus: of each
    :param roles: several kinds of tasks, ``{"worker": Role(…), "ps": Role(…)}``, in place of the four above
    :param framework: whose variables the programs get: ``pytorch``, ``tensorflow``, …; ``generic`` for a command
    :param files: files, folders and archives for every task's working directory: ``SOURCE[::NAME][#archive]``
    :param src_dir: a folder whose content appears in every working directory
    :param python_venv: a virtual environment, which appears as ``venv/``; or a PEX
    :param env: variables of the programs. Everybody who may see the job can read them
    :param secrets: variables that nobody else may read: ``{"NAME": "file:PATH"}`` or ``{"NAME": "env:VARIABLE"}``
    :param conf: any other key of the job
    :param resume_from: an earlier job's id, or a checkpoint
    :param application_tag: of YARN: while a job of yours with it has not ended, that one is returned
    :param scheduler: ``local`` runs the job on this machine
    """
    return hand_in(prepare("submit", locals()))


def hand_in(prepared: Prepared) -> Job:
    """Returns when the job has been accepted; whatever interrupts it withdraws the submission."""
    with written(prepared) as (words, origin), turn(), Child(words) as child:
        try:
            printed = child.result()
        except TonyError as error:
            raise in_callers_words(error, origin) from None
        except BaseException:
            _withdraw(child)
            raise
        tell(origin.told(child.errors()))
    return Job(printed["applicationId"], _origin=origin)


@dataclass(frozen=True)
class Prepared:
    """A request, and how it is submitted."""

    request: Request
    words: tuple[str, ...]
    parcels: tuple[Parcel, ...]
    is_local: bool
    #: Of the command line.
    verb: Literal["submit", "search"] = "submit"


_NOT_HERE = ("unknown", "job")


def prepare(function: str, arguments: dict[str, Any], added: Sequence[Setting] = ()) -> Prepared:
    """
    From the arguments of ``submit()``, which all its forms share.

    :param added: what ``function`` adds to them; ``conf`` goes over it
    """
    if arguments["unknown"]:
        raise unknown_arguments(function, arguments["unknown"], [name for name in arguments if name not in _NOT_HERE])
    sources, variables = beside(arguments["python_venv"], arguments["env"] or {})
    one = Role(
        instances=arguments["instances"],
        memory=arguments["memory"],
        vcores=arguments["vcores"],
        gpus=arguments["gpus"],
        files=[*listed(arguments["files"]), *sources],
        env=variables,
    )
    job, roles, parcels = _with_commands(arguments["job"], arguments["roles"], arguments["python_venv"])
    asked = request(
        job,
        one,
        roles=roles,
        framework=arguments["framework"],
        added=added,
        conf=arguments["conf"] or {},
    )
    options = {
        "--src_dir": arguments["src_dir"],
        "--python_venv": arguments["python_venv"],
        "--name": arguments["name"],
        "--queue": arguments["queue"],
        "--resume-from": arguments["resume_from"],
        "--application-tag": arguments["application_tag"],
        "--scheduler": arguments["scheduler"],
    }
    words = [f"{option}={os.fspath(value)}" for option, value in options.items() if value is not None]
    secrets: Mapping[str, str] = arguments["secrets"] or {}
    words += [f"--secret={variable}={source}" for variable, source in secrets.items()]
    return Prepared(asked, tuple(words), parcels, arguments["scheduler"] == "local")


def _with_commands(
    job: Any, roles: Mapping[str, Role] | None, environment: Path | None
) -> tuple[Any, Mapping[str, Role] | None, tuple[Parcel, ...]]:
    """The same job with a command in place of each function."""
    parcels: list[Parcel] = []

    def command(runs: Any, role: str | None, venv: Path | None) -> Any:
        if not callable(runs):
            return runs
        packed = parcel(runs, role)
        if packed.by_value:
            check_release(venv, packed.name)
        parcels.append(packed)
        return packed.command(None if venv is None else os.fspath(venv))

    def own_command(name: str, role: Role) -> Any:
        """
        The command of a role. It is also set for a role that runs the common program with its own Python, or after
        other commands.
        """
        if role.command is None and (role.python_venv is not None or role.before is not None):
            return command(job, name, role.python_venv or environment)
        return command(role.command, name, role.python_venv or environment)

    shared = command(job, None, environment)
    named = roles and {name: replace(role, command=own_command(name, role)) for name, role in roles.items()}
    return shared, named, tuple(parcels)


@contextlib.contextmanager
def written(prepared: Prepared) -> Generator[tuple[Sequence[str], Origin], None, None]:
    """The words of the command line, and the file that they name, which is removed afterwards."""
    asked = prepared.request
    with tempfile.TemporaryDirectory(prefix="tony-ts-") as folder:
        put = keep if prepared.is_local else put_into(folder)
        carried = dict.fromkeys(file for each in prepared.parcels for file in each.files(put))
        resources = [f"--conf=tony.containers.resources={list_item(file)}" for file in carried]
        words = [prepared.verb, "--detach", "--json", *prepared.words, *resources]
        if asked.job_file is not None:
            settings = (f"--conf={setting.key}={setting.value}" for setting in asked.settings)
            yield [*words, f"--conf={asked.job_file}", *settings], Origin()
            return
        text, origin = job_xml(asked.settings)
        # A job without a name is named after the folder of its file.
        place = os.path.join(folder, "job")
        os.mkdir(place)
        file = os.path.join(place, FILE_NAME)
        with open(file, "x", encoding="utf-8") as out:
            out.write(text)
        yield [*words, f"--conf={file}"], origin


def in_callers_words(error: TonyError, origin: Origin) -> TonyError:
    error.args = (origin.told(str(error)),)
    return error


def tell(said: str) -> None:
    for line in said.splitlines():
        logger.log(logging.WARNING if "warning: " in line else logging.INFO, line)


def _withdraw(child: Child) -> None:
    """An interrupted caller gets no job: one that was accepted meanwhile is ended."""
    child.interrupt()
    try:
        printed = child.result()
    except TonyError:
        return
    run(kill_words(printed["applicationId"], WITHDRAWN))
