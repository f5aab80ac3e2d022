"""A scheduler for TorchX: ``torchx run -s tony dist.ddp …`` is a job of a YARN cluster."""

# pyright: reportMissingTypeStubs=false
from __future__ import annotations

import dataclasses
import json
import os
import re
import shlex
import uuid
from datetime import datetime
from typing import Any, Iterable, List, Mapping

from torchx.schedulers.api import DescribeAppResponse, ListAppResponse, Scheduler, Stream
from torchx.specs.api import (
    NONE,
    AppDef,
    AppDryRunInfo,
    AppState,
    ReplicaStatus,
    RetryPolicy,
    Role,
    RoleStatus,
    macros,
    runopts,
)
from torchx.workspace.api import WorkspaceMixin

import tony_ts
from tony_ts.process import run
from tony_ts.shapes import JobStatus, TaskStatus

#: What ``-cfg`` says.
Options = Mapping[str, Any]

_STATES = {"succeeded": AppState.SUCCEEDED, "failed": AppState.FAILED, "killed": AppState.CANCELLED}
_TASK_STATES = {
    "waiting": AppState.PENDING,
    "allocated": AppState.PENDING,
    "launched": AppState.PENDING,
    "registered": AppState.PENDING,
    "running": AppState.RUNNING,
    "succeeded": AppState.SUCCEEDED,
    "failed": AppState.FAILED,
    "lost": AppState.FAILED,
    "stopped": AppState.CANCELLED,
}


@dataclasses.dataclass(frozen=True)
class Request:
    """What ``tony_ts.submit()`` is called with."""

    arguments: Mapping[str, Any]

    def __str__(self) -> str:
        return json.dumps(self.arguments, indent=2, default=dataclasses.asdict)


class TonyScheduler(WorkspaceMixin[None], Scheduler[Options]):
    """Jobs are tony_ts's: their ids are YARN's, and every other command of tony-ts knows them."""

    def __init__(self, session_name: str) -> None:
        super().__init__("tony", session_name)

    def _run_opts(self) -> runopts:
        options = runopts()
        options.add("queue", type_=str, default=None, help="The queue of YARN")
        options.add("framework", type_=str, default="pytorch", help="Whose variables the programs get")
        options.add("python_venv", type_=str, default=None, help="An environment for the tasks, which appears as venv/")
        options.add("conf", type_=List[str], default=None, help="Keys of the job: tony.x:1;tony.y:2")
        options.add("scheduler", type_=str, default="yarn", help="local: run the job on this machine")
        return options

    def build_workspace_and_update_role(self, role: Role, workspace: str, cfg: Mapping[str, Any]) -> None:
        """The folder is sent as it is, what .tonyignore names aside: once, until it changes."""
        folder = workspace[len("file://") :] if workspace.startswith("file://") else workspace
        role.image = os.path.abspath(folder)

    def _submit_dryrun(self, app: AppDef, cfg: Options) -> AppDryRunInfo[Request]:
        name = f"{app.name}-{uuid.uuid4().hex[:8]}"
        folders = {role.image for role in app.roles if os.path.isdir(role.image)}
        if len(folders) > 1:
            raise ValueError(f"All roles share one folder, and these have several: {', '.join(sorted(folders))}")
        arguments = {
            "roles": {_name(role.name): _role(role, name) for role in app.roles},
            "src_dir": next(iter(folders), None),
            "name": name,
            "framework": cfg.get("framework"),
            "queue": cfg.get("queue"),
            "python_venv": cfg.get("python_venv"),
            "scheduler": cfg.get("scheduler"),
            "conf": {**_retries(app.roles), **_pairs(cfg.get("conf") or [])},
        }
        return AppDryRunInfo(Request(arguments), str)

    def schedule(self, dryrun_info: AppDryRunInfo[Request]) -> str:
        return tony_ts.submit(**dryrun_info.request.arguments).id

    def describe(self, app_id: str) -> DescribeAppResponse | None:
        try:
            job = tony_ts.Job(app_id)
            status = job.report
        except tony_ts.JobNotFound:
            return None
        outcome = status.get("outcome")
        return DescribeAppResponse(
            app_id=app_id,
            state=_state(status),
            num_restarts=max(status["generation"] - 1, 0),
            msg=outcome["summary"] if outcome is not None else NONE,
            ui_url=job.url,
            roles_statuses=[RoleStatus(role["name"], _replicas(status, role["name"])) for role in status["roles"]],
            roles=[Role(role["name"], image="", num_replicas=role["instances"]) for role in status["roles"]],
        )

    def list(self) -> List[ListAppResponse]:  # noqa: UP006 — of this name is a method here
        return [ListAppResponse(job["id"], _listed(job)) for job in run(["list", "--all", "--json"])["jobs"]]

    def _cancel_existing(self, app_id: str) -> None:
        tony_ts.Job(app_id).kill("torchx cancel")

    def log_iter(
        self,
        app_id: str,
        role_name: str,
        k: int = 0,
        regex: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        should_tail: bool = False,
        streams: Stream | None = None,
    ) -> Iterable[str]:
        """All lines: when each was written is not known, so since and until have no effect."""
        pattern = re.compile(regex or "")
        for line in tony_ts.Job(app_id).logs(f"{_name(role_name)}:{k}", follow=should_tail):
            if streams in (None, Stream.COMBINED, line.stream) and pattern.search(line.line):
                yield f"{line.line}\n"


def create_scheduler(session_name: str, **_: object) -> TonyScheduler:
    return TonyScheduler(session_name)


def _name(role: str) -> str:
    """Roles here are of lower-case letters, digits and dashes."""
    return re.sub(r"[^a-z0-9-]", "-", role.lower())


def _role(role: Role, app_id: str) -> tony_ts.Role:
    if role.mounts:
        raise ValueError(f"{role.name}: containers of YARN have no mounts; name files and archives in files")
    values = macros.Values(img_root=".", app_id=app_id, replica_id=_INDEX, rank0_env="MASTER_ADDR")
    applied = values.apply(role)
    words = [_no_template(word) for word in (applied.entrypoint, *applied.args)]
    return tony_ts.Role(
        " ".join(shlex.quote(word) for word in words),
        instances=role.num_replicas,
        memory=_asked(role.resource.memMB),
        vcores=_asked(role.resource.cpu),
        gpus=_asked(role.resource.gpu),
        env=applied.env,
    )


#: Stands for {{index}} while other braces are told from templates.
_INDEX = "\x00"


def _no_template(word: str) -> str:
    return word.replace("{{", "\\{{").replace(_INDEX, "{{index}}")


def _asked(amount: int) -> int | None:
    """-1 is TorchX's for nothing in particular."""
    return None if amount < 0 else int(amount)


def _retries(roles: Iterable[Role]) -> dict[str, int | str]:
    keys: dict[str, int | str] = {}
    for role in roles:
        if role.retry_policy is RetryPolicy.REPLICA:
            keys[f"tony.{_name(role.name)}.restart-policy"] = "task"
            keys[f"tony.{_name(role.name)}.retry-count"] = role.max_retries
        else:
            keys["tony.am.retry-count"] = max(role.max_retries, int(keys.get("tony.am.retry-count", 0)))
    return keys


def _pairs(settings: Iterable[str]) -> dict[str, str]:
    return {key: value for key, _, value in (setting.partition(":") for setting in settings)}


def _state(status: JobStatus) -> AppState:
    runs = status["state"] in ("running", "finishing")
    return _STATES.get(status["state"], AppState.RUNNING if runs else AppState.PENDING)


def _listed(job: Mapping[str, Any]) -> AppState:
    """What YARN says of an application."""
    final = {"SUCCEEDED": AppState.SUCCEEDED, "FAILED": AppState.FAILED, "KILLED": AppState.CANCELLED}
    ended = job["finalStatus"] if job["state"] == "FINISHED" else job["state"]
    waiting = AppState.PENDING if job["state"] == "ACCEPTED" else AppState.SUBMITTED
    return final.get(ended, AppState.RUNNING if job["state"] == "RUNNING" else waiting)


def _replicas(status: JobStatus, role: str) -> list[ReplicaStatus]:
    return [_replica(status, task, role) for task in status["tasks"] if task["task"].rpartition(":")[0] == role]


def _replica(status: JobStatus, task: TaskStatus, role: str) -> ReplicaStatus:
    error = _error(status, task)
    # The one that failed first may have been stopped, because of another's end, before its program had ended.
    state = _TASK_STATES.get(task["state"], AppState.UNKNOWN) if error == NONE else AppState.FAILED
    return ReplicaStatus(
        id=int(task["task"].rpartition(":")[2]),
        state=state,
        role=role,
        hostname=task.get("host", ""),
        structured_error_msg=error,
    )


def _error(status: JobStatus, task: TaskStatus) -> str:
    """As torchelastic writes it, of the task that failed first."""
    cause = status.get("outcome", {}).get("cause")
    if cause is None or cause.get("task") != task["task"]:
        return NONE
    text = "\n".join([cause["summary"], *cause["lines"]])
    timestamp = str(cause["atMs"] // 1000)
    message = {"message": text, "errorCode": task.get("exit", ""), "extraInfo": {"timestamp": timestamp}}
    return json.dumps({"message": message})
