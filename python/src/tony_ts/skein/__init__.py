"""
Skein's names for jobs of tony_ts: ``from tony_ts import skein``. The command line reads Skein's specifications
(docs/guide/coming-from-skein.md says what each field becomes), so a specification is only built here, not interpreted.
"""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
import json
import logging
import os
import tempfile
import time
import weakref
from types import TracebackType
from typing import Any, Collection, Generator, Iterator, Literal, Mapping, TypeVar, Union, cast

from ..errors import JobInvalid, TonyError
from ..in_task import Entry, Watch, entry_of, task
from ..job import Job, status_words
from ..process import Child, result, run
from ..shapes import TaskState, TaskStatus
from ..submission import submit
from . import exceptions as exceptions
from . import kv as kv
from .exceptions import SkeinError as SkeinError
from .kv import KeyValueStore, Store, StoreOfTask
from .operations import ROLE, SHARED, Json, container_id, service_and_instance, service_of

logger = logging.getLogger("tony_ts")


_Made = TypeVar("_Made", bound="_Part")


class _Part:
    """Part of a specification: fields that are not given are left out."""

    def to_dict(self) -> Json:
        fields = dataclasses.fields(cast(Any, self))
        plain = [(field, _plain(getattr(self, field.name))) for field in fields]
        # A value equal to nothing is left out, except a number of instances that may be 0.
        return {field.name: value for field, value in plain if value or (value == 0 and field.default)}

    @classmethod
    def from_dict(cls: type[_Made], obj: Mapping[str, Any]) -> _Made:
        return cls(**_fields(cls, obj, ""))


def _plain(value: Any) -> Any:
    if isinstance(value, _Part):
        return value.to_dict()
    if isinstance(value, Mapping):
        return {name: _plain(item) for name, item in cast("Mapping[str, Any]", value).items()}
    if isinstance(value, (set, frozenset)):
        return sorted(cast("set[str]", value))
    return value


def _fields(kind: type[_Part], given: Mapping[str, Any], folder: str) -> dict[str, Any]:
    """:param folder: the base of relative file paths: that of the specification's own file"""
    known = {field.name for field in dataclasses.fields(cast(Any, kind))}
    foreign = [name for name in given if name not in known]
    if foreign:
        raise JobInvalid(f"{', '.join(foreign)}: no field of Skein's {kind.__name__}", code="JOB_INVALID")
    return {name: _part(name, value, folder) for name, value in given.items()}


def _part(name: str, given: Any, folder: str) -> Any:
    kinds: dict[str, type[_Part]] = {"acls": ACLs, "master": Master, "resources": Resources}
    if not isinstance(given, Mapping):
        return given
    parts = cast("Mapping[str, Any]", given)
    if name in kinds:
        return kinds[name](**_fields(kinds[name], parts, folder))
    if name == "services":
        return {key: Service(**_fields(Service, part, folder)) for key, part in parts.items()}
    if name == "files":
        return {key: _file(file, folder) for key, file in parts.items()}
    return parts


def _file(given: Any, folder: str) -> File:
    file = File(given) if isinstance(given, str) else File(**_fields(File, given, folder))
    return file if "://" in file.source else dataclasses.replace(file, source=os.path.join(folder, file.source))


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
    #: The cluster finds these out.
    visibility: str = "application"
    size: int = 0
    timestamp: int = 0

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
    depends: Collection[str] = ()
    max_restarts: int = 0
    allow_failures: bool = False
    node_label: str = ""
    nodes: Collection[str] = ()
    racks: Collection[str] = ()
    relax_locality: bool = False

    def to_dict(self) -> Json:
        files = {name: file if isinstance(file, File) else File(file) for name, file in self.files.items()}
        return {**super().to_dict(), "files": _plain(files)}


@dataclasses.dataclass
class Master(_Part):
    resources: Resources | None = None
    script: str = ""
    files: Mapping[str, str | File] = dataclasses.field(default_factory=lambda: {})
    env: Mapping[str, str] = dataclasses.field(default_factory=lambda: {})
    log_level: str = ""
    log_config: str | File | None = None
    security: Mapping[str, Any] | None = None


@dataclasses.dataclass
class ApplicationSpec(_Part):
    """An application of Skein, as its YAML describes it."""

    services: Mapping[str, Service] = dataclasses.field(default_factory=lambda: {})
    master: Master | None = None
    name: str = "skein"
    queue: str = "default"
    user: str = ""
    node_label: str = ""
    tags: Collection[str] = ()
    file_systems: Collection[str] = ()
    acls: ACLs | None = None
    max_attempts: int = 1

    @classmethod
    def from_json(cls, b: str) -> ApplicationSpec:
        return cls.from_dict(json.loads(b))

    @classmethod
    def from_yaml(cls, b: str) -> ApplicationSpec:
        """Needs PyYAML, as Skein does; ``submit()`` reads a YAML file without it."""
        return cls.from_dict(_yaml(b))

    @classmethod
    def from_file(cls, path: str | os.PathLike[str], format: str = "infer") -> ApplicationSpec:
        """Relative paths in it start from its folder."""
        with open(path, encoding="utf-8") as file:
            text = file.read()
        is_json = format == "json" or (format == "infer" and os.fspath(path).endswith(".json"))
        given = json.loads(text) if is_json else _yaml(text)
        return cls(**_fields(cls, given, os.path.dirname(os.path.abspath(path))))


def _yaml(text: str) -> Mapping[str, Any]:
    try:
        yaml: Any = importlib.import_module("yaml")
    except ImportError:
        message = "a specification is read from YAML by PyYAML: pip install pyyaml, or give submit() the file's path"
        raise TonyError(message, code="USAGE") from None
    return cast("Mapping[str, Any]", yaml.safe_load(text))


#: A specification, the same as a dictionary, or the path of a YAML or JSON file.
Specification = Union[ApplicationSpec, Mapping[str, Any], str, "os.PathLike[str]"]


@dataclasses.dataclass(frozen=True)
class ApplicationReport:
    """What YARN reports of an application."""

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
    """There is no daemon to start: Skein's arguments are accepted and have no effect."""

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
        """There is nothing to release."""

    def __enter__(self) -> Client:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


class ApplicationClient:
    """A running application."""

    def __init__(self, app_id: str, *, _store: Store | None = None) -> None:
        self.id = app_id
        self.job = Job(app_id)
        self.kv = KeyValueStore(_FromOutside(app_id) if _store is None else _store)
        """The application's key-value store."""

    @classmethod
    def from_current(cls) -> ApplicationClient:
        """The application of the task that this program runs for."""
        own = task()
        return cls(own.application_id, _store=StoreOfTask(own.kv, own.name))

    def shutdown(self, status: str = "SUCCEEDED", diagnostics: str | None = None) -> None:
        """Ends it. It counts as killed, whatever the status: only its programs decide how a job ended."""
        self.job.kill(diagnostics or f"shutdown({status!r})")

    def get_containers(
        self, services: Collection[str] | None = None, states: Collection[str] | None = None
    ) -> list[Container]:
        """
        :param services: by the names that the specification gave them
        :param states: by Skein's names; without any, containers in all states
        """
        wanted = None if states is None else {state.upper() for state in states}
        for state in wanted or ():
            if state not in _STATES:
                raise ValueError(f"there is no state {state!r} of a container: {', '.join(_STATES)}")
        roles = None if services is None else {service_and_instance(f"{service}_0")[0] for service in services}
        containers = map(_container, self.job.report["tasks"])
        return [
            container
            for container in containers
            if (wanted is None or container.state in wanted) and (roles is None or container.service_name in roles)
        ]


def _container(found: TaskStatus) -> Container:
    role, _, index = found["task"].rpartition(":")
    return Container(
        service_name=service_of(role),
        instance=int(index),
        state=_CONTAINER_STATES[found["state"]],
        yarn_container_id=found.get("containerId", ""),
        yarn_node_http_address=found.get("nodeHttpAddress", ""),
        exit_message=found.get("exit", ""),
    )


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
_STATES = ("WAITING", *dict.fromkeys(_CONTAINER_STATES.values()))


class _FromOutside:
    """Through the command line, which acts as the user."""

    def __init__(self, app_id: str) -> None:
        self._id = app_id

    def transact(self, conditions: list[Json], operations: list[Json], owner: str | None) -> Json:
        words = [] if owner is None else [f"--owner={self._task(owner)}"]
        asked = json.dumps({"conditions": conditions, "success": operations}).encode()
        return run(["kv", self._id, "transact", "--json", *words], asked)

    def _task(self, owner: str) -> str:
        """The role's name in the job, which may differ from the service's."""
        tasks = [one["task"] for one in Job(self._id).report["tasks"]]
        return f"{ROLE}{owner}" if owner not in tasks and f"{ROLE}{owner}" in tasks else owner

    def entries(self, start: str, end: str | None) -> Iterator[Entry]:
        found = map(entry_of, run(["kv", self._id, "list", SHARED, "--json"])["entries"])
        return (entry for entry in found if start <= entry.key and (end is None or entry.key < end))

    def watch(self) -> Watch:
        return Watch(_Lines(["kv", self._id, "watch", SHARED, "--json"]))


class _Lines(Iterator[Json]):
    """The lines of a command that goes on."""

    def __init__(self, words: list[str]) -> None:
        self._child = Child(words, follows=True)
        self._lines = self._child.lines()
        # Also when the program ends: the child would otherwise wait for the job's end.
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
            logger.log(logging.WARNING if remark["kind"] == "no-meaning" else logging.INFO, remark["message"])
        yield out


def _absolute(source: str) -> str:
    return source if "://" in source else os.path.abspath(source)
