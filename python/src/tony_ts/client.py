"""``run_on_yarn()``: tf-yarn's call, its arguments and its names, run by ``submit()``."""

from __future__ import annotations

import contextlib
import functools
import importlib
import logging
import os
import re
import sys
from types import MappingProxyType
from typing import Any, Callable, Generator, Literal, Mapping, NamedTuple, NoReturn, Sequence

from .display import ProgressLog
from .environments import Path, package
from .errors import JobFailed, JobInvalid, TonyError, told_plainly
from .functions import check_runs, module_files
from .job import Job
from .metrics import Metrics, metrics
from .request import Role, Value, in_words_of
from .shapes import JobStatus
from .submission import submit
from .topologies import TASK_TYPES, NodeLabel, TaskSpec, check

logger = logging.getLogger("tony_ts")

#: What tasks run: called without arguments or, for ``distributed``, with the process's number in its container.
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
    :param custom_task_module: a module that tasks run in place of the function, by ``python -m``; the module finds the
        function by ``tony_ts._task_commons``. Or one of tf-yarn's own
    :param nb_retries: how often the tasks start again after the function failed. Lost nodes and preempted containers
        are replaced in addition to that
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
    """The job of ``run_on_yarn()``, which runs by itself."""
    if nb_retries < 0:
        raise JobInvalid(f"nb_retries must be 0 or more, not {nb_retries}", code="JOB_INVALID")
    kind = _kind_of(custom_task_module, task_specs)
    check(task_specs, trains=kind.trains, without=kind.without)
    if kind.arguments is not None:
        check_runs(experiment_fn, *kind.arguments)
    for argument, value in without_effect.items():
        if value is not None:
            logger.warning("run_on_yarn(%s=…) has no effect", argument)
    runs: dict[str, Callable[[], Any]] = {}
    for role, spec in task_specs.items():
        if role == "tensorboard":
            runs.update(_tensorboard(spec, experiment_fn, kind, _environment(pyenv_zip_path, spec.label)))
        else:
            runs[role] = kind.function(experiment_fn, spec)
    specs = {role: task_specs[role] for role in runs}
    with _told_by_arguments():
        return submit(
            roles={
                role: Role(
                    runs[role],
                    instances=spec.instances,
                    memory=spec.memory,
                    vcores=spec.vcores,
                    python_venv=_environment(pyenv_zip_path, spec.label),
                    before=pre_script_hook,
                    # An environment's editable packages are added to it.
                    env={name: value for name, value in env.items() if name == "PYTHONPATH"},
                )
                for role, spec in specs.items()
            },
            framework=kind.framework,
            files=[
                *(f"{source}::{target}" for target, source in (files or {}).items()),
                *([] if cuda_runtime_hdfs_path is None else [f"{cuda_runtime_hdfs_path}::cuda#archive"]),
                *(file for file in kind.files if os.path.basename(file) not in (files or {})),
            ],
            env={**_run_of_mlflow(), **env},
            queue=queue if scheduler == "yarn" else None,
            name=name,
            scheduler=scheduler,
            conf={
                **_keys_of_tasks(specs, kind),
                **({"tony.application.sidecar.jobtypes": "tensorboard"} if "tensorboard" in specs else {}),
                **_rights(acls),
                "tony.am.retry-count": nb_retries,
                **({} if file_systems is None else {"tony.other.namenodes": file_systems}),
            },
        )


#: Rewrites arguments of ``submit()``, and keys, into the arguments of ``run_on_yarn()`` that they came from.
_ARGUMENTS = (
    (re.compile(r" \(submit\(\w+=…\)\)|, submit\(\w+=…\)"), ""),
    (re.compile(r"submit\(roles=…\)"), "run_on_yarn(task_specs=…)"),
    (re.compile(r"submit\(conf=…\)"), "run_on_yarn()"),
    (re.compile(r"submit\((?=(?:env|files|name|queue)=…\))"), "run_on_yarn("),
    (re.compile(rf"\btony\.({'|'.join(TASK_TYPES)})\.(memory|vcores|instances)\b"), r"TaskSpec(\2=…) of \1"),
    (re.compile(rf"\btony\.({'|'.join(TASK_TYPES)})\.node-label\b"), r"TaskSpec(label=…) of \1"),
    (re.compile(rf"\btony\.({'|'.join(TASK_TYPES)})\.processes\b"), r"TaskSpec(nb_proc_per_worker=…) of \1"),
    (re.compile(r"\btony\.am\.retry-count\b"), "nb_retries"),
    (re.compile(r"\btony\.containers\.resources\b"), "files"),
    (re.compile(r"\btony\.execution\.envs\b"), "env"),
    (re.compile(r"\btony\.yarn\.queue\b"), "queue"),
    (re.compile(r"\btony\.application\.name\b"), "name"),
    (re.compile(r"\btony\.other\.namenodes\b"), "file_systems"),
    (re.compile(r"\btony\.application\.acl\.(?:view|modify)\b"), "acls"),
)


def _in_arguments(text: str) -> str:
    for pattern, argument in _ARGUMENTS:
        text = pattern.sub(argument, text)
    return text


@contextlib.contextmanager
def _told_by_arguments() -> Generator[None, None, None]:
    token = in_words_of.set(_in_arguments)
    try:
        yield
    finally:
        in_words_of.reset(token)


def get_safe_experiment_fn(full_fn_name: str, *args: Any) -> Callable[[], Any]:
    """A function of a module that the tasks have, called there with ``args``: only its name is sent."""
    return functools.partial(_call_by_name, full_fn_name, *args)


def _call_by_name(full_fn_name: str, *args: Any) -> Any:
    module, _, name = full_fn_name.rpartition(".")
    return getattr(importlib.import_module(module), name)(*args)


class _Kind(NamedTuple):
    """How an experiment runs in a task."""

    framework: str
    #: Makes what the task runs, from the experiment and the topology's spec of the task's type.
    function: Callable[[ExperimentFn, TaskSpec], Callable[[], Any]]
    #: Whether each process of a task runs the function; otherwise the function starts them.
    each_process: bool = True
    #: Whether a job needs a chief or workers.
    trains: bool = True
    #: Types of tasks that are not possible, and why.
    without: Mapping[str, str] = MappingProxyType({})
    #: Finds, in a task, where the experiment writes what a TensorBoard shows.
    log_dir: Callable[[ExperimentFn], str] | None = None
    #: In addition to those that the function needs.
    files: Sequence[str] = ()
    #: The arguments that the function is called with; None: who calls it, and how, is not known.
    arguments: tuple[object, ...] | None = ()


def _plain(experiment_fn: ExperimentFn, _: TaskSpec) -> Callable[[], Any]:
    from .experiments import run

    return functools.partial(run, experiment_fn)


def _of_pytorch(experiment_fn: ExperimentFn, _: TaskSpec) -> Callable[[], Any]:
    from .pytorch.worker import train

    return functools.partial(train, experiment_fn)


def _distributed(experiment_fn: ExperimentFn, spec: TaskSpec) -> Callable[[], Any]:
    from .distributed.task import run

    return functools.partial(run, experiment_fn, spec.nb_proc_per_worker)


def _of_tensorflow(experiment_fn: ExperimentFn, _: TaskSpec) -> Callable[[], Any]:
    from .tensorflow.experiment import run

    return functools.partial(run, experiment_fn)


def _evaluates(experiment_fn: ExperimentFn, _: TaskSpec) -> Callable[[], Any]:
    from .tensorflow.evaluator import run

    return functools.partial(run, experiment_fn)


def _log_dir_of_tensorflow(experiment_fn: ExperimentFn) -> str:
    from .tensorflow.experiment import model_dir

    return model_dir(experiment_fn)


_NO_PS = {"ps": "it would have no rank: processes that set up their own communication share no servers"}
_NO_EVALUATOR = {
    "evaluator": "a PytorchExperiment has nothing that evaluates: do it in main_fn, or by tony_ts.distributed, whose "
    "function an evaluator runs, too"
}

_KINDS = {
    None: _Kind("tensorflow", _plain),
    "pytorch.tasks.worker": _Kind("pytorch", _of_pytorch, without={**_NO_PS, **_NO_EVALUATOR}),
    "distributed.task": _Kind("pytorch", _distributed, without=_NO_PS, arguments=(0,)),
    "tensorflow.tasks._independent_workers_task": _Kind("tensorflow", _of_tensorflow, log_dir=_log_dir_of_tensorflow),
    "tensorflow.tasks.evaluator_task": _Kind("tensorflow", _evaluates, trains=False, log_dir=_log_dir_of_tensorflow),
}


def _kind_of(custom_task_module: str | None, task_specs: Mapping[str, TaskSpec]) -> _Kind:
    """tf-yarn's own modules exist here under the same names; any other module runs as it is."""
    package, _, name = (custom_task_module or "").partition(".")
    own = custom_task_module if package not in ("tf_yarn", "tony_ts") else name
    if own in _KINDS:
        return _KINDS[own]
    if own is None or own != custom_task_module:
        message = f"custom_task_module={custom_task_module!r}: there is no such module here"
        if own == "tensorflow.tasks.gloo_allred_task":
            message = (
                f"custom_task_module={custom_task_module!r}: Horovod's tasks are started by "
                'submit(framework="horovod")'
            )
        raise JobInvalid(message, code="JOB_INVALID")
    return _of_module(own, task_specs)


def _of_module(module: str, task_specs: Mapping[str, TaskSpec]) -> _Kind:
    from ._task_commons import run

    roles = [role for role in task_specs if role != "tensorboard"]
    in_cluster = [role for role in roles if role != "evaluator"]
    instances = [(role, task_specs[role].instances, task_specs[role].nb_proc_per_worker) for role in in_cluster]

    def function(experiment_fn: ExperimentFn, _: TaskSpec) -> Callable[[], Any]:
        return functools.partial(run, module, experiment_fn, [*in_cluster, *roles][0], instances)

    return _Kind("tensorflow", function, each_process=False, trains=False, files=module_files(module), arguments=None)


def _tensorboard(
    spec: TaskSpec, experiment_fn: ExperimentFn, kind: _Kind, environment: Path | None
) -> dict[str, Callable[[], Any]]:
    """What the TensorBoard's task runs, where there is something to show."""
    from .tensorboard import missing, serve

    if spec.tb_termination_timeout_seconds > 0:
        logger.warning("TaskSpec(tb_termination_timeout_seconds=…) has no effect: a TensorBoard ends with its job")
    find = None if kind.log_dir is None else functools.partial(kind.log_dir, experiment_fn)
    log_dir = find if spec.tb_model_dir is None else spec.tb_model_dir
    if log_dir is None:
        logger.warning("No TensorBoard runs: TaskSpec(tb_model_dir=…) says what it shows")
        return {}
    said = missing(environment)
    if said is not None:
        logger.warning(said)
    return {"tensorboard": functools.partial(serve, log_dir, spec.tb_extra_args)}


def _environment(given: str | Mapping[NodeLabel, str] | None, label: NodeLabel) -> Path | None:
    """The program's own environment is sent with its editable packages, as with tf-yarn."""
    if isinstance(given, Mapping):
        if label not in given:
            raise JobInvalid(f"pyenv_zip_path has no environment for {label}", code="JOB_INVALID")
        return given[label]
    return package() if given is None and sys.prefix != sys.base_prefix else given


def _keys_of_tasks(task_specs: Mapping[str, TaskSpec], kind: _Kind) -> dict[str, Value]:
    keys: dict[str, Value] = {}
    for role, spec in task_specs.items():
        if spec.label.value:
            keys[f"tony.{role}.node-label"] = spec.label.value
        if spec.nb_proc_per_worker > 1 and kind.each_process:
            keys[f"tony.{role}.processes"] = spec.nb_proc_per_worker
    return keys


def _run_of_mlflow() -> dict[str, str]:
    """Variables by which tasks log with MLflow's own client, where this program has begun a run."""
    mlflow: Any = sys.modules.get("mlflow")
    if mlflow is None:
        return {}
    run = mlflow.active_run()
    if run is None or not mlflow.is_tracking_uri_set():
        return {}
    return {"MLFLOW_RUN_ID": run.info.run_id, "MLFLOW_TRACKING_URI": mlflow.get_tracking_uri()}


def _rights(acls: Any) -> dict[str, Value]:
    """YARN's form: users, a space, groups."""
    if acls is None or not acls.enable:
        return {}
    sees = sorted({*acls.view_users, *acls.ui_users})
    rights = {"tony.application.acl.view": sees, "tony.application.acl.modify": list(acls.modify_users)}
    return {key: "*" if "*" in users else ",".join(users) for key, users in rights.items() if users}


def _metrics_at_end(job: Job) -> Metrics | None:
    with ended_with(job):
        if logger.isEnabledFor(logging.INFO):
            _log_progress(job)
        job.wait()
    report = job.report
    if any(task["task"] == "tensorboard:0" and task["state"] == "failed" for task in report["tasks"]):
        last = next(reversed([*job.logs("tensorboard")]), None)
        logger.warning("The TensorBoard failed: %s", "its log says nothing" if last is None else last.line)
    return metrics(report)


def _log_progress(job: Job) -> None:
    progress = ProgressLog(job.id, logger)
    with job.events(logs="none") as events:
        for event in events:
            progress.see(event)


@contextlib.contextmanager
def ended_with(job: Job) -> Generator[None, None, None]:
    """An exception in between ends the job, and the job's own failure is a ``RunFailed``."""
    try:
        logger.info("%s is submitted%s", job.id, "" if job.url is None else f": {job.url}")
        yield
    except JobFailed as error:
        _fail(job, error)
    except BaseException:
        job.kill("run_on_yarn() was interrupted")
        logger.warning("%s was ended, because run_on_yarn() was interrupted", job.id)
        raise


def _fail(job: Job, error: JobFailed) -> NoReturn:
    failed = RunFailed(str(error), code=error.code)
    failed.application_id, failed.report, failed.traceback = job.id, error.report, error.traceback
    raise failed from None
