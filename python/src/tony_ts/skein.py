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
from types import TracebackType
from typing import Any, Dict, Generator, Iterator, Literal, Mapping, MutableMapping, Protocol, Union, cast

from .errors import JobInvalid, TonyError
from .in_task import Entry, entry_of, task
from .job import Job, status_words
from .process import run
from .shapes import TaskState
from .submission import submit

logger = logging.getLogger("tony_ts")

_Json = Dict[str, Any]


class _Part:
    """Of a specification: what is not given is not in it."""

    def to_dict(self) -> _Json:
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

    def to_dict(self) -> _Json:
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

    def to_dict(self) -> _Json:
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
        return f"{self.service_name}_{self.instance}"


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

    @classmethod
    def from_current(cls) -> ApplicationClient:
        """Of the task that this program runs for."""
        own = task()
        return cls(own.application_id, _store=own.kv)

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


class Store(Protocol):
    """The job's store: from a task, or from outside."""

    def entry(self, key: str) -> Entry | None: ...
    def put(self, key: str, value: bytes) -> int: ...
    def delete(self, key: str) -> bool: ...
    def entries(self, prefix: str) -> Iterator[Entry]: ...


#: All tasks may write there, and nowhere else all of them.
_SHARED = "shared/"


class KeyValueStore(MutableMapping[str, bytes]):
    """Keys are those of the job's store below ``shared/``; values are bytes."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def __getitem__(self, key: str) -> bytes:
        found = self._store.entry(_SHARED + key)
        if found is None:
            raise KeyError(key)
        return found.value

    def __setitem__(self, key: str, value: bytes) -> None:
        self.put(key, value)

    def __delitem__(self, key: str) -> None:
        if not self.discard(key):
            raise KeyError(key)

    def __iter__(self) -> Iterator[str]:
        return iter(self.get_prefix(""))

    def __len__(self) -> int:
        return self.count()

    def put(self, key: str, value: bytes) -> None:
        self._store.put(_SHARED + key, value)

    def exists(self, key: str) -> bool:
        return key in self

    def missing(self, key: str) -> bool:
        return key not in self

    def discard(self, key: str) -> bool:
        """Whether it was there."""
        return self._store.delete(_SHARED + key)

    def get_prefix(self, prefix: str) -> dict[str, bytes]:
        return {found.key[len(_SHARED) :]: found.value for found in self._store.entries(_SHARED + prefix)}

    def get_range(self, start: str | None = None, end: str | None = None) -> dict[str, bytes]:
        """From ``start`` to before ``end``."""
        inside = self.get_prefix("").items()
        return {key: value for key, value in inside if (start or "") <= key and (end is None or key < end)}

    def list_keys(self, prefix: str = "") -> list[str]:
        return list(self.get_prefix(prefix))

    def count(self, prefix: str = "") -> int:
        return len(self.get_prefix(prefix))

    def discard_prefix(self, prefix: str) -> int:
        """How many went."""
        return sum(self.discard(key) for key in self.list_keys(prefix))

    def wait(self, key: str) -> bytes:
        """Until the key is there."""
        while True:
            found = self._store.entry(_SHARED + key)
            if found is not None:
                return found.value
            time.sleep(0.2)


class _FromOutside:
    """By the command line, which is the user's own."""

    def __init__(self, app_id: str) -> None:
        self._id = app_id

    def entry(self, key: str) -> Entry | None:
        try:
            return entry_of(self._run("get", key)["entry"])
        except TonyError as error:
            if error.code == "NO_SUCH_KEY":
                return None
            raise

    def put(self, key: str, value: bytes) -> int:
        # A value that begins with a dash is no option.
        revision: int = self._run("put", key, f"--value={value.decode()}")["revision"]
        return revision

    def delete(self, key: str) -> bool:
        return bool(self._run("del", key)["deleted"])

    def entries(self, prefix: str) -> Iterator[Entry]:
        return map(entry_of, self._run("list", prefix)["entries"])

    def _run(self, action: str, *words: str) -> _Json:
        return run(["kv", self._id, action, "--json", *words])


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
