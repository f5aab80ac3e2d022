"""Searches for good parameters."""

from __future__ import annotations

import contextlib
import functools
import re
from dataclasses import replace
from typing import Any, Callable, Generator, Iterator, Literal, Mapping, NoReturn, Sequence, Union, cast

from .environments import Path
from .errors import JobInvalid, told_plainly
from .functions import check_runs
from .job import Job
from .request import Command, Role, Setting, Value, in_words_of
from .submission import hand_in, prepare
from .trial import Trial, run_trial

#: What a trial may run instead of a command: it is called with the trial, and may return the metric's value.
Objective = Callable[[Trial], object]
#: ``"float 1e-5 1e-1 log"``, ``"int 1 8"``; or a list, of whose values each trial gets one.
Domain = Union[str, Sequence[Union[str, int, float]]]

#: Arguments and the keys of a search that they are.
_KEYS = {
    "metric": "metric",
    "direction": "direction",
    "trials": "max-trials",
    "parallel": "max-parallel",
    "algorithm": "algorithm",
    "stop": "stop",
}


@told_plainly
def search(
    job: Command | Path | Objective | None = None,
    params: Mapping[str, Domain] | None = None,
    *,
    metric: str | None = None,
    direction: Literal["minimize", "maximize"] | None = None,
    trials: int | None = None,
    parallel: int | None = None,
    algorithm: Literal["tpe", "random", "grid", "evolution", "optuna"] | None = None,
    stop: Literal["none", "median", "asha", "asha-promotion", "hyperband"] | None = None,
    resume: str | None = None,
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
    scheduler: Literal["yarn", "local"] = "yarn",
    **unknown: NoReturn,
) -> Job:
    """
    Starts a search: trials of a program, each with other parameters, in one job. Returns when the job has been
    accepted; ``wait()`` waits for all trials, and ``trials()`` and ``best()`` tell what has been found, at any time.

    :param job: what each trial runs: a command, in which ``{{param.lr}}`` becomes the trial's value; or a function,
        which is called with the ``Trial`` and returns the metric's value, unless it reports that itself. Or a job file
    :param params: the space, ``{"lr": "float 1e-5 1e-1 log", "layers": "int 1 8", "optimizer": ["adam", "sgd"]}``
    :param metric: what trials are compared by
    :param direction: which values of it are better
    :param trials: how many at most; 100
    :param parallel: how many run at once; 4
    :param algorithm: what chooses the parameters; ``tpe``
    :param stop: which trials are stopped early; ``none``
    :param resume: an earlier search to go on with: its job's id, or the file of its trials
    :param instances: of each trial; and all further arguments are those of ``submit()``
    """
    given = {**locals(), "name": None, "queue": None, "resume_from": None, "application_tag": None}
    with _told_of_search():
        settings = [*_space(params or {}), *_chosen(given, name, queue)]
        given["job"] = functools.partial(run_trial, _checked(job), metric) if callable(job) else job
        prepared = prepare("search", given, settings)
        going_on = () if resume is None else (f"--resume={resume}",)
        return hand_in(replace(prepared, verb="search", words=(*prepared.words, *going_on)))


def _checked(objective: Objective) -> Objective:
    check_runs(objective, Trial(0, {}))
    return objective


def _space(params: Mapping[str, Domain]) -> Iterator[Setting]:
    for name, domain in params.items():
        text = domain if isinstance(domain, str) else " ".join(["choice", *_choices(name, domain)])
        yield Setting(f"tony.search.param.{name}", text, "params")


def _choices(name: str, values: object) -> Iterator[str]:
    if not isinstance(values, (list, tuple)):
        message = f'search(params=…): {name} is a text, such as "float 0 1", or a list of choices, not {values!r}'
        raise JobInvalid(message, code="JOB_INVALID")
    for value in cast("Sequence[object]", values):
        if isinstance(value, bool) or not isinstance(value, (str, int, float)) or '"' in str(value):
            message = f'search(params=…): a choice of {name} is a number, or a text without ", not {value!r}'
            raise JobInvalid(message, code="JOB_INVALID")
        yield f'"{value}"' if isinstance(value, str) else repr(value)


def _chosen(given: Mapping[str, Any], name: str | None, queue: str | None) -> Iterator[Setting]:
    for argument, key in _KEYS.items():
        if given[argument] is not None:
            yield Setting(f"tony.search.{key}", str(given[argument]), argument)
    if name is not None:
        yield Setting("tony.application.name", name, "name")
    if queue is not None:
        yield Setting("tony.yarn.queue", queue, "queue")


@contextlib.contextmanager
def _told_of_search() -> Generator[None, None, None]:
    """Whatever is said of arguments names the function that was called."""
    token = in_words_of.set(_of_search)
    try:
        yield
    except JobInvalid as error:
        error.args = (_of_search(str(error)),)
        raise
    finally:
        in_words_of.reset(token)


def _of_search(text: str) -> str:
    return re.sub(r"\bsubmit\(", "search(", text)
