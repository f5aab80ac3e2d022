"""``run_on_yarn()``: tf-yarn's call, its arguments and its names, run by ``submit()``."""

from __future__ import annotations

import contextlib
import functools
import importlib
import logging
import sys
from typing import Any, Callable, Generator, Literal, Mapping, NamedTuple, NoReturn, Sequence

from .errors import JobFailed, JobInvalid, TonyError, told_plainly
from .job import Job
from .metrics import Metrics, metrics
from .request import Role, Value
from .shapes import JobStatus
from .submission import submit
from .topologies import NodeLabel, TaskSpec, check

logger = logging.getLogger("tony_ts")

#: What tasks run: without arguments, or for ``distributed`` with the process's number in its container.
ExperimentFn = Callable[..., Any]


class ACLs(NamedTuple):
    """Who else may see a job and end it. Any object with these attributes will do, such as Skein's."""

    enable: bool = True
    ui_users: Sequence[str] = ()
    view_users: Sequence[str] = ()
    modify_users: Sequence[str] = ()


EVERYBODY_SEES = ACLs(ui_users=("*",), view_users=("*",))


class RunFailed(TonyError):
    """
    The job of ``run_on_yarn()`` failed. The message has the cause and the failed task's traceback.
    """

    application_id: str
    report: JobStatus | None
    #: The failed task's own.
    traceback: str


@told_plainly
def run_on_yarn(
    experiment_fn: ExperimentFn,
    task_specs: dict[str, TaskSpec],
    *,
    pyenv_zip_path: str | dict[NodeLabel, str] | None = None,
    skein_client: object = None,
    files: dict[str, str] | None = None,
    env: Mapping[str, str] = {},
    queue: str = "default",
    acls: Any = EVERYBODY_SEES,
    file_systems: list[str] | None = None,
    eval_monitor_log_thresholds: dict[str, tuple[float, float]] | None = None,
    nb_retries: int = 0,
    custom_task_module: str | None = None,
    name: str = "RunOnYarn",
    pre_script_hook: str | None = None,
    cuda_runtime_hdfs_path: str | None = None,
    scheduler: Literal["yarn", "local"] = "yarn",
) -> Metrics | None:
    """
    Runs a function in every task of a job, and waits until all have ended. Ctrl-C ends the job.

    :param task_specs: by ``chief``, ``worker``, ``ps``, ``evaluator`` and ``tensorboard``
    :param pyenv_zip_path: the tasks' Python environment, or one for each label: an archive, a PEX or a folder. Without
        it, the virtual environment that this program runs in; outside of one, the nodes' ``python3``
    :param files: by the name that each has in a task's working directory
    :param nb_retries: how often the tasks start again after the function failed. Lost nodes and preempted containers
        are replaced beside that
    :param pre_script_hook: what a shell does before
    :param cuda_runtime_hdfs_path: an archive that appears unpacked as ``cuda``
    :param scheduler: not of tf-yarn: ``local`` runs the job on this machine
    :raises RunFailed: the job failed
    """
    job = submitted(
        experiment_fn,
        task_specs,
        pyenv_zip_path=pyenv_zip_path,
        files=files,
        env=env,
        queue=queue,
        acls=acls,
        file_systems=file_systems,
        nb_retries=nb_retries,
        custom_task_module=custom_task_module,
        name=name,
        pre_script_hook=pre_script_hook,
        cuda_runtime_hdfs_path=cuda_runtime_hdfs_path,
        scheduler=scheduler,
        without_effect={"skein_client": skein_client, "eval_monitor_log_thresholds": eval_monitor_log_thresholds},
    )
    return _metrics_at_end(job)


def submitted(
    experiment_fn: ExperimentFn,
    task_specs: dict[str, TaskSpec],
    *,
    pyenv_zip_path: str | dict[NodeLabel, str] | None,
    files: dict[str, str] | None,
    env: Mapping[str, str],
    queue: str,
    acls: Any,
    file_systems: list[str] | None,
    name: str,
    pre_script_hook: str | None,
    scheduler: Literal["yarn", "local"],
    without_effect: Mapping[str, object],
    nb_retries: int = 0,
    custom_task_module: str | None = None,
    cuda_runtime_hdfs_path: str | None = None,
) -> Job:
    """The job of ``run_on_yarn()``, which goes on by itself."""
    if nb_retries < 0:
        raise ValueError(f"nb_retries must be 0 or more, not {nb_retries}")
    check(task_specs)
    for argument, value in without_effect.items():
        if value is not None:
            logger.warning("run_on_yarn(%s=…) has no effect", argument)
    kind = _kind_of(custom_task_module)
    return submit(
        roles={
            role: Role(
                kind.function(experiment_fn, spec.nb_proc_per_worker),
                instances=spec.instances,
                memory=spec.memory,
                vcores=spec.vcores,
                python_venv=_environment(pyenv_zip_path, spec.label),
                before=pre_script_hook,
            )
            for role, spec in task_specs.items()
            if role != "tensorboard"
        },
        framework=kind.framework,
        files=[
            *(f"{source}::{target}" for target, source in (files or {}).items()),
            *([] if cuda_runtime_hdfs_path is None else [f"{cuda_runtime_hdfs_path}::cuda#archive"]),
        ],
        env=env,
        queue=queue if scheduler == "yarn" else None,
        name=name,
        scheduler=scheduler,
        conf={
            **_keys_of_tasks(task_specs),
            **_rights(acls),
            "tony.am.retry-count": nb_retries,
            **({} if file_systems is None else {"tony.other.namenodes": file_systems}),
        },
    )


def get_safe_experiment_fn(full_fn_name: str, *args: Any) -> Callable[[], Any]:
    """A function of a module that tasks have, called there with ``args``: nothing but its name travels."""
    return functools.partial(_call_by_name, full_fn_name, *args)


def _call_by_name(full_fn_name: str, *args: Any) -> Any:
    module, _, name = full_fn_name.rpartition(".")
    return getattr(importlib.import_module(module), name)(*args)


class _Kind(NamedTuple):
    """How an experiment runs in a task."""

    framework: str
    function: Callable[[ExperimentFn, int], Callable[[], Any]]


def _plain(experiment_fn: ExperimentFn, processes: int) -> Callable[[], Any]:
    from .experiments import run

    return functools.partial(run, experiment_fn)


def _of_pytorch(experiment_fn: ExperimentFn, processes: int) -> Callable[[], Any]:
    from .pytorch.worker import train

    return functools.partial(train, experiment_fn)


def _distributed(experiment_fn: ExperimentFn, processes: int) -> Callable[[], Any]:
    from .distributed.task import run

    return functools.partial(run, experiment_fn, processes)


#: By the modules that tf-yarn has for them.
_KINDS = {
    None: _Kind("tensorflow", _plain),
    "tf_yarn.pytorch.tasks.worker": _Kind("pytorch", _of_pytorch),
    "tf_yarn.distributed.task": _Kind("pytorch", _distributed),
}


def _kind_of(custom_task_module: str | None) -> _Kind:
    kind = _KINDS.get(custom_task_module)
    if kind is None:
        message = (
            f"custom_task_module={custom_task_module!r}: modules for tasks of tf-yarn need Skein's store. "
            "Give what it does in a task as experiment_fn"
        )
        raise JobInvalid(message, code="JOB_INVALID")
    return kind


def _environment(given: str | Mapping[NodeLabel, str] | None, label: NodeLabel) -> str | None:
    if isinstance(given, Mapping):
        if label not in given:
            raise JobInvalid(f"pyenv_zip_path has no environment for {label}", code="JOB_INVALID")
        return given[label]
    return sys.prefix if given is None and sys.prefix != sys.base_prefix else given


def _keys_of_tasks(task_specs: Mapping[str, TaskSpec]) -> dict[str, Value]:
    keys: dict[str, Value] = {}
    for role, spec in task_specs.items():
        if spec.label.value:
            keys[f"tony.{role}.node-label"] = spec.label.value
        if spec.nb_proc_per_worker > 1:
            keys[f"tony.{role}.processes"] = spec.nb_proc_per_worker
    board = task_specs.get("tensorboard")
    if board is not None and board.tb_model_dir is None:
        logger.warning("No TensorBoard runs: TaskSpec(tb_model_dir=…) says what it shows")
    elif board is not None and board.tb_model_dir is not None:
        keys["tony.application.tensorboard-log-dir"] = board.tb_model_dir
        keys["tony.tensorboard.memory"] = board.memory
        keys["tony.tensorboard.vcores"] = board.vcores
    return keys


def _rights(acls: Any) -> dict[str, Value]:
    """YARN writes them as users, a space, groups."""
    if acls is None or not acls.enable:
        return {}
    sees = sorted({*acls.view_users, *acls.ui_users})
    rights = {"tony.application.acl.view": sees, "tony.application.acl.modify": list(acls.modify_users)}
    return {key: "*" if "*" in users else ",".join(users) for key, users in rights.items() if users}


def _metrics_at_end(job: Job) -> Metrics | None:
    with ended_with(job):
        job.wait()
    return metrics(job.report)


@contextlib.contextmanager
def ended_with(job: Job) -> Generator[None, None, None]:
    """The job does not outlive what goes wrong meanwhile, and its own failure is a ``RunFailed``."""
    try:
        logger.info("%s is submitted%s", job.id, "" if job.url is None else f": {job.url}")
        yield
    except JobFailed as error:
        _fail(job, error)
    except BaseException:
        job.kill("run_on_yarn() was interrupted")
        raise


def _fail(job: Job, error: JobFailed) -> NoReturn:
    failed = RunFailed(str(error), code=error.code)
    failed.application_id, failed.report, failed.traceback = job.id, error.report, error.traceback
    raise failed from None
