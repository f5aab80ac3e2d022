"""
Skein's names for jobs that are tony_ts's: ``from tony_ts import skein``. The command line reads Skein's specifications
(docs/guide/coming-from-skein.md says what becomes of each field), so a specification is made here, not interpreted.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import logging
import os
import tempfile
import time
import weakref
from types import TracebackType
from typing import Any, Generator, Iterator, Literal, Mapping, Union, cast

from ..errors import JobInvalid
from ..in_task import Entry, Watch, entry_of, task
from ..job import Job, status_words
from ..process import Child, result, run
from ..shapes import TaskState
from ..submission import submit
from . import kv as kv
from .kv import KeyValueStore, Store, StoreOfTask
from .operations import SHARED, Json, container_id

logger = logging.getLogger("tony_ts")


class _Part:
    """Of a specification: what is not given is not in it."""

    def to_dict(self) -> Json:
        fields = {field.name: getattr(self, field.name) for field in dataclasses.fields(cast(Any, self))}
        return {name: _plain(value) for name, value in fields.items() if value not in (None, "", [], {})}


def _plain(value: Any) -> Any:
    if isinstance(value, _Part):
        return value.to_dict()
    if isinstance(value, Mapping):
        return {name: _plain(item) for name, item in cast("Mapping[str, Any]", value).items()}
    return value


@dataclasses.dataclass
class Resources(_Part):
    """``memory`` is a number of MiB, or a text such as ``"2 GiB"``."""

    memory: int | str
    vcores: int
    gpus: int = 0
    fpgas: int = 0


@dataclasses.dataclass
class File(_Part):
    source: str
    type: str = "infer"

    def to_dict(self) -> Json:
        return {"source": _absolute(self.source), "type": self.type}


@dataclasses.dataclass
class ACLs(_Part):
    enable: bool = False
    view_users: list[str] = dataclasses.field(default_factory=list)
    view_groups: list[str] = dataclasses.field(default_factory=list)
    modify_users: list[str] = dataclasses.field(default_factory=list)
    modify_groups: list[str] = dataclasses.field(default_factory=list)
    ui_users: list[str] = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Service(_Part):
    resources: Resources
    script: str
    instances: int = 1
    files: Mapping[str, str | File] = dataclasses.field(default_factory=lambda: {})
    env: Mapping[str, str] = dataclasses.field(default_factory=lambda: {})
    depends: list[str] = dataclasses.field(default_factory=list)
    max_restarts: int = 0
    allow_failures: bool = False
    node_label: str = ""

    def to_dict(self) -> Json:
        files = {name: file if isinstance(file, File) else File(file) for name, file in self.files.items()}
        return {**super().to_dict(), "files": _plain(files)}


@dataclasses.dataclass
class Master(_Part):
    resources: Resources | None = None
    script: str = ""
    files: Mapping[str, str | File] = dataclasses.field(default_factory=lambda: {})
    env: Mapping[str, str] = dataclasses.field(default_factory=lambda: {})


@dataclasses.dataclass
class ApplicationSpec(_Part):
    """An application of Skein, as its YAML has it."""

    services: Mapping[str, Service] = dataclasses.field(default_factory=lambda: {})
    master: Master | None = None
    name: str = "skein"
    queue: str = "default"
    user: str = ""
    node_label: str = ""
    tags: list[str] = dataclasses.field(default_factory=list)
    file_systems: list[str] = dataclasses.field(default_factory=list)
    acls: ACLs | None = None
    max_attempts: int = 1


#: A specification, the same as a dictionary, or the path of a file of YAML or JSON.
Specification = Union[ApplicationSpec, Mapping[str, Any], str, "os.PathLike[str]"]


@dataclasses.dataclass(frozen=True)
class ApplicationReport:
    """What YARN says of an application."""

    id: str
    name: str
    user: str
    queue: str
    tags: list[str]
    state: str
    final_status: str
    tracking_url: str
    diagnostics: str


@dataclasses.dataclass(frozen=True)
class Container:
    service_name: str
    instance: int
    state: str
    yarn_container_id: str
    yarn_node_http_address: str
    exit_message: str

    @property
    def id(self) -> str:
        return container_id(f"{self.service_name}:{self.instance}")


class Client:
    """There is no daemon to start: arguments of Skein's are taken and have no effect."""

    def __init__(self, *_: object, scheduler: Literal["yarn", "local"] = "yarn", **__: object) -> None:
        self._scheduler: Literal["yarn", "local"] = scheduler

    def submit(self, spec: Specification) -> str:
        """Returns the application's id."""
        with _job_file(spec) as file:
            return submit(file, scheduler=self._scheduler).id

    def submit_and_connect(self, spec: Specification) -> ApplicationClient:
        return self.connect(self.submit(spec))

    def connect(self, app_id: str, wait: bool = True) -> ApplicationClient:
        client = ApplicationClient(app_id)
        while wait and client.job.state == "starting":
            time.sleep(0.2)
        return client

    def application_report(self, app_id: str) -> ApplicationReport:
        said = run(status_words(app_id))["report"]
        return ApplicationReport(
            id=app_id,
            name=said["name"],
            user=said["user"],
            queue=said["queue"],
            tags=said["tags"],
            state=said["state"],
            final_status=said["finalStatus"],
            tracking_url=said["trackingUrl"],
            diagnostics=said["diagnostics"],
        )

    def kill_application(self, app_id: str, user: str = "") -> None:
        Job(app_id).kill()

    def close(self) -> None:
        """Nothing is held."""

    def __enter__(self) -> Client:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


class ApplicationClient:
    """An application that runs."""

    def __init__(self, app_id: str, *, _store: Store | None = None) -> None:
        self.id = app_id
        self.job = Job(app_id)
        self.kv = KeyValueStore(_FromOutside(app_id) if _store is None else _store)
        """The application's key-value store."""

    @classmethod
    def from_current(cls) -> ApplicationClient:
        """Of the task that this program runs for."""
        own = task()
        return cls(own.application_id, _store=StoreOfTask(own.kv, own.name))

    def shutdown(self, status: str = "SUCCEEDED", diagnostics: str | None = None) -> None:
        """Ends it. It counts as killed, whatever the status: only its programs decide how a job ended."""
        self.job.kill(diagnostics or f"shutdown({status!r})")

    def get_containers(self) -> list[Container]:
        return [
            Container(
                service_name=found["task"].rpartition(":")[0],
                instance=int(found["task"].rpartition(":")[2]),
                state=_CONTAINER_STATES[found["state"]],
                yarn_container_id=found.get("containerId", ""),
                yarn_node_http_address=found.get("nodeHttpAddress", ""),
                exit_message=found.get("exit", ""),
            )
            for found in self.job.report["tasks"]
        ]


_CONTAINER_STATES: Mapping[TaskState, str] = {
    "waiting": "REQUESTED",
    "allocated": "REQUESTED",
    "launched": "RUNNING",
    "registered": "RUNNING",
    "running": "RUNNING",
    "succeeded": "SUCCEEDED",
    "failed": "FAILED",
    "lost": "FAILED",
    "stopped": "KILLED",
}


class _FromOutside:
    """By the command line, which is the user's own."""

    def __init__(self, app_id: str) -> None:
        self._id = app_id

    def transact(self, conditions: list[Json], operations: list[Json], owner: str | None) -> Json:
        words = [] if owner is None else [f"--owner={owner}"]
        asked = json.dumps({"conditions": conditions, "success": operations}).encode()
        return run(["kv", self._id, "transact", "--json", *words], asked)

    def entries(self, start: str, end: str | None) -> Iterator[Entry]:
        found = map(entry_of, run(["kv", self._id, "list", SHARED, "--json"])["entries"])
        return (entry for entry in found if start <= entry.key and (end is None or entry.key < end))

    def watch(self) -> Watch:
        return Watch(_Lines(["kv", self._id, "watch", SHARED, "--json"]))


class _Lines(Iterator[Json]):
    """Of a command that goes on."""

    def __init__(self, words: list[str]) -> None:
        self._child = Child(words, follows=True)
        self._lines = self._child.lines()
        # Also at the end of the program: the child would wait for the job's.
        weakref.finalize(self, self._child.kill)

    def __next__(self) -> Json:
        line = next(self._lines, None)
        if line is None:
            self._child.close()
            raise StopIteration
        return result(line, "", 0)

    def close(self) -> None:
        self._child.kill()


@contextlib.contextmanager
def _job_file(spec: Specification) -> Generator[str, None, None]:
    """The same application as a job's file, while it is submitted."""
    with tempfile.TemporaryDirectory(prefix="tony-ts-") as folder:
        source = os.fspath(spec) if isinstance(spec, (str, os.PathLike)) else os.path.join(folder, "app.json")
        if not isinstance(spec, (str, os.PathLike)):
            with open(source, "w", encoding="utf-8") as file:
                json.dump(_plain(spec), file)
        out = os.path.join(folder, "job.xml")
        [migrated] = run(["migrate", source, "--out", out, "--json"])["files"]
        to_mend = [remark["message"] for remark in migrated["remarks"] if remark["kind"] == "to-mend"]
        if to_mend:
            raise JobInvalid("\n".join(to_mend), code="JOB_INVALID")
        for remark in migrated["remarks"]:
            logger.log(logging.WARNING if remark["kind"] == "dropped" else logging.INFO, remark["message"])
        yield out


def _absolute(source: str) -> str:
    return source if "://" in source else os.path.abspath(source)
