"""What a program of a task asks its executor: its place in the job, what to do next, the job's key-value store."""

from __future__ import annotations

import base64
import itertools
import json
import os
import threading
import warnings
from collections import Counter
from concurrent.futures import Future
from operator import index
from typing import Iterator, Mapping, NamedTuple, Protocol, Sequence, SupportsFloat, SupportsIndex, Union
from urllib.parse import quote, urlencode

from .gathered_puts import GatheredPuts, LaterPuts, Put
from .task_api import PATIENCE_S, BadValue, Executor, Json, TaskError, api_path, seconds

#: What is reported as one number: also a tensor or an array of one element.
Number = Union[SupportsFloat, SupportsIndex]


class Advice(NamedTuple):
    """What a program is to do next."""

    #: ``continue``, ``checkpoint-now`` or ``stop``
    answer: str
    #: Why, where it is not to continue.
    cause: str | None = None
    #: Until when, in milliseconds since 1970; None where nobody says.
    deadline_ms: int | None = None
    #: Parts of the report that are not kept, and why.
    ignored: tuple[str, ...] = ()
    #: Why a checkpoint that was reported may be lost. It is a Python warning, too.
    warning: str | None = None

    @property
    def should_stop(self) -> bool:
        """Whether the program is to end: the one who stops it waits for the role's grace, and no longer."""
        return self.answer == "stop"

    @property
    def should_checkpoint(self) -> bool:
        """Whether the program is to save a checkpoint now, before ``deadline_ms``: its container will be taken back."""
        return self.answer == "checkpoint-now"


class Entry(NamedTuple):
    """A key and its value."""

    key: str
    value: bytes
    #: The revision that created the key, and the one that wrote it last.
    created: int
    modified: int
    #: How often it was written since it was created.
    version: int
    #: The task with whose life the key ends: ``worker:0``.
    owner: str | None = None


class Change(NamedTuple):
    """What a revision did to one key."""

    revision: int
    key: str
    #: None: the key is gone.
    entry: Entry | None


class TaskEnd(NamedTuple):
    """How a task ended."""

    task: str
    #: ``succeeded``, ``failed``, ``stopped`` or ``lost``
    state: str
    #: ``0``, ``1``, ``SIGKILL``; empty where its program had none.
    exit: str

    @property
    def succeeded(self) -> bool:
        """Whether it ended well."""
        return self.state == "succeeded"


class ClosableLines(Iterator[Json], Protocol):
    """JSON objects, one per line, as they arrive."""

    def close(self) -> None: ...


class KeyValues(Mapping[str, bytes]):
    """
    The job's key-value store, as this task may use it: keys that begin with ``shared/`` or with the task's own prefix.
    A value is bytes; text is written as UTF-8.
    """

    def __init__(self, executor: Executor, own: str) -> None:
        self._executor = executor
        #: The prefix of the keys that no other task sees: ``task/worker:0/``.
        self.own = own
        # Puts that wait until they are safe do not hold up the others.
        self._puts = GatheredPuts(lambda puts, timeout: self._write(puts, timeout, durable=False))
        self._durable_puts = GatheredPuts(lambda puts, timeout: self._write(puts, timeout, durable=True))
        self._later_puts = LaterPuts(lambda puts, timeout: self._write(puts, timeout, durable=False))
        self._durable_later_puts = LaterPuts(lambda puts, timeout: self._write(puts, timeout, durable=True))

    def __getitem__(self, key: str) -> bytes:
        found = self.entry(key)
        if found is None:
            raise KeyError(key)
        return found.value

    def __setitem__(self, key: str, value: str | bytes) -> None:
        self.put(key, value)

    def __delitem__(self, key: str) -> None:
        if not self.delete(key):
            raise KeyError(key)

    def __iter__(self) -> Iterator[str]:
        for prefix in ("shared/", self.own):
            yield from (entry.key for entry in self.entries(prefix))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def entry(self, key: str) -> Entry | None:
        """The key with its revisions; None where it is missing."""
        try:
            return entry_of(self._executor.ask("GET", _route(key))["entry"])
        except TaskError as error:
            if error.code == "NO_SUCH_KEY":
                return None
            raise

    def put(
        self,
        key: str,
        value: str | bytes,
        *,
        owned: bool = False,
        durable: bool = False,
        if_revision: int | None = None,
    ) -> int:
        """
        Writes a key, and returns the store's revision. ``owned``: the key ends with this life of the task. ``durable``:
        returns once the write outlives the ApplicationMaster. ``if_revision``: writes only if that revision wrote it
        last, 0: only if it is missing; else raises ConditionFailed. What several threads put at the same time goes into
        one call.
        """
        _check_put(key, value)
        if if_revision is not None:
            return self._put(Put(key, value, owned), durable=durable, if_revision=if_revision)
        return (self._durable_puts if durable else self._puts).put(Put(key, value, owned))

    def put_future(self, key: str, value: str | bytes, *, owned: bool = False, durable: bool = False) -> Future[int]:
        """
        Writes a key as ``put`` does, without waiting: only the future gives the revision or the error. Keys are written
        in the order of the calls, many in one request, and ``durable`` ones separately; ``put`` and reads do not wait
        for them. It waits while 256 are not answered yet. A program that ends waits for them, for a minute at most. In
        an event loop: ``await asyncio.wrap_future(…)``.
        """
        _check_put(key, value)
        return (self._durable_later_puts if durable else self._later_puts).put(Put(key, value, owned))

    def _write(self, puts: Sequence[Put], timeout: float, *, durable: bool) -> int:
        if len(puts) == 1:
            return self._put(puts[0], durable=durable, timeout=timeout)
        body = {"success": [_putting(*put) for put in puts]}
        route = f"/v1/kv?results=false{'&durable=true' if durable else ''}"
        revision: int = self._executor.ask("POST", route, json.dumps(body).encode(), timeout=timeout)["revision"]
        return revision

    def _put(self, put: Put, *, durable: bool, timeout: float = PATIENCE_S, if_revision: int | None = None) -> int:
        data = put.value.encode() if isinstance(put.value, str) else put.value
        route = _route(put.key) + _query(owned=put.owned, durable=durable, if_revision=if_revision)
        revision: int = self._executor.ask("PUT", route, data, timeout=timeout)["revision"]
        return revision

    def update(self, values: Mapping[str, str | bytes], *, owned: bool = False, durable: bool = False) -> int:
        """Writes up to 128 keys at one revision, and returns it: one call, instead of one for each."""
        puts = [_putting(key, value, owned) for key, value in values.items()]
        revision: int = self.transaction([], puts, durable=durable)["revision"]
        return revision

    def delete(self, key: str, *, if_revision: int | None = None) -> bool:
        """Returns whether the key was there."""
        return bool(self._executor.ask("DELETE", _route(key) + _query(if_revision=if_revision))["deleted"])

    def delete_prefix(self, prefix: str) -> int:
        """Returns how many keys were deleted."""
        count: int = self._executor.ask("DELETE", f"/v1/kv?{urlencode({'prefix': prefix})}")["deleted"]
        return count

    def setdefault(self, key: str, value: str | bytes, *, owned: bool = False) -> bytes:
        """Writes the key where it is missing, and returns its value."""
        put = _putting(key, value, owned)
        missing = {"of": "missing", "key": key}
        answer = self.transaction([missing], [put], [{"type": "get", "key": key}])
        if answer["succeeded"]:
            return value.encode() if isinstance(value, str) else value
        return entry_of(answer["results"][0]["entry"]).value

    def swap(self, key: str, value: str | bytes, *, owned: bool = False) -> bytes | None:
        """Writes the key, and returns its previous value; None where it was missing."""
        put = _putting(key, value, owned)
        return _held(self.transaction([], [put])["results"][0].get("before"))

    def pop(self, key: str) -> bytes | None:
        """Deletes the key, and returns its value; None where it was missing."""
        answer = self.transaction([], [{"type": "get", "key": key}, {"type": "delete", "key": key}])
        return _held(answer["results"][0].get("entry"))

    def entries(self, prefix: str = "shared/", *, start: str = "", end: str | None = None) -> Iterator[Entry]:
        """All keys with that prefix, in order; from ``start`` on, before ``end``."""
        until = {} if end is None else {"to": end}
        while True:
            answer = self._executor.ask("GET", f"/v1/kv?{urlencode({'prefix': prefix, 'from': start, **until})}")
            part = [entry_of(one) for one in answer["entries"]]
            yield from part
            if not answer["more"]:
                return
            start = part[-1].key + "\0"

    def transaction(
        self,
        conditions: list[Json],
        success: list[Json],
        failure: list[Json] | None = None,
        *,
        durable: bool = False,
    ) -> Json:
        """Everything in it happens at one revision, or nothing does: docs/guide/key-value-store.md has the forms."""
        body = {"conditions": conditions, "success": success, "failure": failure or []}
        return self._executor.ask("POST", f"/v1/kv{_query(durable=durable)}", json.dumps(body).encode())

    def watch(self, prefix: str = "shared/", *, after: tuple[int, int] | None = None) -> Watch:
        """
        Changes as they happen, each once, after the given attempt and revision, else from this call on. Reading them
        raises TaskError (``COMPACTED``, ``RESET``) where some can no longer be reported: list the keys, and watch
        again.
        """
        position = {} if after is None else {"attempt": after[0], "revision": after[1]}
        query = urlencode({"watch": "true", "prefix": prefix, **position})
        return Watch(self._executor.lines(f"/v1/kv?{query}"))


class Watch(Iterator[Change]):
    """Changes of a store as they happen. Any thread may ``close()`` it."""

    def __init__(self, lines: ClosableLines) -> None:
        """Returns once the watch has begun, which the first line shows."""
        self._lines = lines
        first = next(lines, None)
        self._changes = self._read(lines if first is None else itertools.chain([first], lines))

    def __next__(self) -> Change:
        return next(self._changes)

    def close(self) -> None:
        """Ends the loop of whoever reads it."""
        self._lines.close()

    def _read(self, lines: Iterator[Json]) -> Iterator[Change]:
        for line in lines:
            for word in ("compacted", "reset"):
                if line.get(word):
                    message = "Some changes cannot be told any more: list the keys, and watch from there"
                    raise TaskError(message, code=word.upper())
            for change in line["changes"]:
                entry = entry_of(change["entry"]) if "entry" in change else None
                yield Change(line["revision"], entry.key if entry else change["key"], entry)


class Task:
    """The task that this program runs for."""

    def __init__(self, path: str) -> None:
        self._executor = Executor(path)
        facts = self._executor.ask("GET", "/v1/task")
        #: ``worker:0``
        self.name: str = facts["task"]
        self.role: str = facts["role"]
        self.index: int = facts["index"]
        self.application_id: str = facts["applicationId"]
        #: The number of this life of the task.
        self.generation: int = facts["generation"]
        #: How many lives there were before, and why the last one ended.
        self.restarts: int = facts["restarts"]
        self.restart_reason: str | None = facts.get("restartReason")
        #: The checkpoint to go on from.
        self.resume_from: str | None = facts.get("checkpoint")
        self.host: str | None = facts.get("host")
        self.port: int | None = facts.get("port")
        self.kv = KeyValues(self._executor, f"task/{self.name}/")
        self._meetings: Counter[tuple[str, ...]] = Counter()
        self._counting = threading.Lock()
        self._has_warned = False

    def cluster(self) -> dict[str, list[str]]:
        """Where the tasks of each role are: ``{"worker": ["node7:40123", …]}``."""
        roles: dict[str, list[str]] = {}
        for task in self._executor.ask("GET", "/v1/cluster")["tasks"]:
            roles.setdefault(task["task"].rpartition(":")[0], []).append(f"{task['host']}:{task['port']}")
        return roles

    def report(self, step: SupportsIndex | None = None, **metrics: Number) -> Advice:
        """
        Reports the program's progress, and returns what it is to do next. A metric is a number, or a tensor or an array
        of one element. Raises BadValue, which names a metric that is not.
        """
        said: Json = {"metrics": {name: _number(name, value) for name, value in metrics.items()}} if metrics else {}
        return self._report(said if step is None else {"step": _whole("step", step), **said})

    def checkpoint(self, path: str | os.PathLike[str], step: SupportsIndex) -> Advice:
        """
        Reports a complete checkpoint, and returns what to do next. For one that would be lost with the container,
        ``warning`` of the answer says what to set.
        """
        place = os.fspath(path)
        told = {"checkpoint": place if "://" in place else os.path.abspath(place), "step": _whole("step", step)}
        advice = self._report(told)
        if advice.warning is not None and not self._has_warned:
            self._has_warned = True
            warnings.warn(advice.warning, stacklevel=2)
        return advice

    @property
    def should_stop(self) -> bool:
        """Whether the program is being stopped."""
        return self._report({}).should_stop

    def barrier(self, name: str, *, roles: list[str] | None = None, timeout: float | None = None) -> None:
        """
        Returns when all tasks of these roles, by default of its own, have come to the barrier of that name: in a loop
        each call is the next meeting. A call that times out does not count: call it again. Raises TaskError
        (``BARRIER_TIMEOUT``), which names the missing tasks.
        """
        # Meetings with other roles under the same name are separate, and counted separately.
        meeting = (name, *sorted(set(roles or [self.role])))
        with self._counting:
            self._meetings[meeting] += 1
            nth = self._meetings[meeting]
        query = _whom(roles, timeout, nth=nth)
        try:
            self._executor.ask_apart("POST", f"/v1/barrier/{quote(name, safe='')}{query}")
        except BaseException:
            with self._counting:
                self._meetings[meeting] -= 1
            raise

    def wait_for_end(self, *, roles: list[str] | None = None, timeout: float | None = None) -> list[TaskEnd]:
        """
        Returns how the tasks of these roles ended, once none of them runs or will start again; by default of those that
        the job waits for, without the task's own role. Raises TaskError (``ENDS_TIMEOUT``).
        """
        answer = self._executor.ask_apart("GET", f"/v1/ends{_whom(roles, timeout)}")
        return [TaskEnd(one["task"], one["state"], one["exit"]) for one in answer["tasks"]]

    def _report(self, said: Json) -> Advice:
        answer = self._executor.ask("POST", "/v1/report", json.dumps(said).encode())
        ignored = tuple(answer.get("ignored", ()))
        return Advice(answer["answer"], answer.get("cause"), answer.get("deadlineMs"), ignored, answer.get("warning"))


_TASKS: dict[str, Task] = {}


def task() -> Task:
    """The task that this program runs for. Raises NotInATask elsewhere."""
    path = api_path()
    if path not in _TASKS:
        _TASKS[path] = Task(path)
    return _TASKS[path]


def _route(key: str) -> str:
    return f"/v1/kv/{quote(key, safe='/:')}"


def _query(*, if_revision: int | None = None, **flags: bool) -> str:
    words = {name: "true" for name, value in flags.items() if value}
    if if_revision is not None:
        words["if-revision"] = str(if_revision)
    return f"?{urlencode(words)}" if words else ""


def _whom(roles: list[str] | None, timeout: float | None, **numbers: int) -> str:
    words = {name: str(number) for name, number in numbers.items()}
    if roles is not None:
        words["roles"] = ",".join(roles)
    if timeout is not None:
        words["timeout"] = seconds(timeout)
    return f"?{urlencode(words)}" if words else ""


def _number(name: str, value: Number) -> int | float:
    """For a tensor or an array, its one element."""
    if isinstance(value, (int, float)):
        return int(value) if isinstance(value, bool) else value
    try:
        if not isinstance(value, (str, bytes)):
            return float(value)
    except (TypeError, ValueError, RuntimeError):
        # Raised below.
        pass
    raise BadValue(f"the metric {name} is a number, not {_kind(value)}", code="BAD_VALUE")


def _whole(name: str, value: SupportsIndex) -> int | float:
    """Also from a tensor. The executor refuses a number with a fraction."""
    try:
        return value if isinstance(value, float) else index(value)
    except TypeError:
        raise BadValue(f"{name} is a whole number, not {_kind(value)}", code="BAD_VALUE") from None


def _kind(value: object) -> str:
    shape = getattr(value, "shape", None)
    return f"{value!r:.40}" if shape is None else f"{type(value).__name__} of the shape {tuple(shape)}"


def _putting(key: str, value: str | bytes, owned: bool) -> Json:
    _check_value(key, value)
    given = {"value": value} if isinstance(value, str) else {"valueBase64": base64.b64encode(value).decode()}
    return {"type": "put", "key": key, "owned": owned, **given}


def _check_value(key: str, value: object) -> None:
    if not isinstance(value, (str, bytes, bytearray, memoryview)):
        message = f"the value of {key} is text or bytes, not {_kind(value)}: put str(…), json.dumps(…), pickle.dumps(…)"
        raise BadValue(message, code="BAD_VALUE")


def _check_put(key: str, value: str | bytes) -> None:
    """Refuses what cannot be written, before other keys are written with it."""
    _check_value(key, value)
    for text in (key, value):
        if isinstance(text, str):
            text.encode()


def _held(entry: Json | None) -> bytes | None:
    return None if entry is None else entry_of(entry).value


def entry_of(said: Json) -> Entry:
    value = said["value"].encode() if "value" in said else base64.b64decode(said["valueBase64"])
    owner = said["owner"]["task"] if "owner" in said else None
    return Entry(said["key"], value, said["created"], said["modified"], said["version"], owner)
