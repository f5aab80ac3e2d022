"""
Skein's key-value store: its operations, conditions and events, on the keys of a job's store that begin with
``shared/``. Skein keeps a key's owner where a write names none, and its value where a write gives none; our store does
neither. So the keys on which a transaction depends are read first, and it happens only if they are unchanged.
"""

from __future__ import annotations

import threading
import weakref
from typing import Any, Iterable, Iterator, MutableMapping, Protocol, Sequence

from ..errors import TonyError
from ..in_task import Entry, KeyValues, Watch
from .events import Event, EventFilter, EventQueue, EventType
from .operations import (
    ROLE,
    SHARED,
    Condition,
    Json,
    Keys,
    Known,
    NoChange,
    Operation,
    TransactionResult,
    ValueOwnerPair,
    check_all,
    check_whole,
    comparison,
    count,
    discard,
    discard_prefix,
    discard_range,
    exists,
    get,
    get_prefix,
    get_range,
    get_words,
    held_in,
    is_condition,
    is_operation,
    list_keys,
    missing,
    no_change,
    owner,
    pop,
    pop_prefix,
    pop_range,
    put,
    said_of,
    swap,
    task_of,
    value,
)

__all__ = [
    "Condition",
    "Event",
    "EventFilter",
    "EventQueue",
    "EventType",
    "KeyValueStore",
    "Operation",
    "TransactionResult",
    "ValueOwnerPair",
    "comparison",
    "count",
    "discard",
    "discard_prefix",
    "discard_range",
    "exists",
    "get",
    "get_prefix",
    "get_range",
    "is_condition",
    "is_operation",
    "list_keys",
    "missing",
    "owner",
    "pop",
    "pop_prefix",
    "pop_range",
    "put",
    "swap",
    "value",
]


class Store(Protocol):
    """The job's store: from a task, or from outside."""

    def transact(self, conditions: list[Json], operations: list[Json], owner: str | None) -> Json: ...
    def entries(self, start: str, end: str | None) -> Iterator[Entry]: ...
    def watch(self) -> Watch: ...


class StoreOfTask:
    """On behalf of the task that asks."""

    def __init__(self, own: KeyValues, task: str) -> None:
        self._own = own
        self._task = task

    def transact(self, conditions: list[Json], operations: list[Json], owner: str | None) -> Json:
        if owner not in (None, self._task) and f"{ROLE}{owner}" != self._task:
            raise ValueError(f"a key is {owner}'s: a task binds keys to itself alone, and this is {self._task}")
        return self._own.transaction(conditions, operations)

    def entries(self, start: str, end: str | None) -> Iterator[Entry]:
        return self._own.entries(SHARED, start=start, end=end)

    def watch(self) -> Watch:
        return self._own.watch(SHARED)


class KeyValueStore(MutableMapping[str, bytes]):
    """Keys are those of the job's store below ``shared/``; values are bytes."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.RLock()
        self._queues: weakref.WeakSet[EventQueue] = weakref.WeakSet()
        self._watch: Watch | None = None

    def transaction(
        self,
        conditions: Sequence[Condition] | None = None,
        on_success: Sequence[Operation] | None = None,
        on_failure: Sequence[Operation] | None = None,
    ) -> TransactionResult:
        """All operations of one of the two lists happen at once, or none does."""
        check_all("conditions", conditions or (), Condition)
        check_all("on_success", on_success or (), Operation)
        check_all("on_failure", on_failure or (), Operation)
        asked = list(conditions or ())
        both = [*(on_success or ()), *(on_failure or ())]
        keys = {one.key for one in asked} | {key for one in both if (key := one.depends_on()) is not None}
        while True:
            known, unchanged = self._known(keys, [one for one in both if isinstance(one, Keys) and one.takes])
            succeeded = all(one.holds(known[one.key]) for one in asked)
            operations = list((on_success if succeeded else on_failure) or ())
            words = [_next_words(one, known) for one in operations]
            answer = self._transact(unchanged, [word for some in words for word in some])
            if answer["succeeded"]:
                results = iter(answer["results"])
                told = [one.result([next(results) for _ in some]) for one, some in zip(operations, words)]
                return TransactionResult(succeeded, told)

    def _known(self, keys: Iterable[str], taken: list[Keys]) -> tuple[Known, list[Json]]:
        """The values of the keys, and the conditions under which they are unchanged."""
        names = sorted(keys)
        lists = [one.words({})[0] for one in taken]
        words = [*map(get_words, names), *(word for word in lists if word["type"] == "list")]
        answers: list[Json] = self._store.transact([], words, None)["results"] if words else []
        # A key that is missing from a truncated list must not be deleted unseen.
        for listed in answers[len(names) :]:
            check_whole(listed)
        entries: list[Json | None] = [answer.get("entry") for answer in answers[: len(names)]]
        revisions = [0 if entry is None else entry["modified"] for entry in entries]
        return dict(zip(names, map(held_in, entries))), [
            {"of": "modified", "key": SHARED + key, "is": "=", "to": revision}
            for key, revision in zip(names, revisions)
        ]

    def _transact(self, conditions: list[Json], words: list[Json]) -> Json:
        owners = {word["owner"] for word in words if word.get("owner") is not None}
        if len(owners) > 1:
            raise ValueError(f"a transaction binds keys to one container, not to {' and '.join(sorted(owners))}")
        operations = [{**word, "owned": word["owner"] is not None} if word["type"] == "put" else word for word in words]
        for word in operations:
            word.pop("owner", None)
        try:
            return self._store.transact(conditions, operations, task_of(owners.pop()) if owners else None)
        except TonyError as error:
            if error.code == "NO_OWNER":
                raise ValueError(str(error)) from None
            raise

    def _did(self, operation: Operation) -> Any:
        return self.transaction(on_success=[operation]).results[0]

    def _listed(self, operation: Keys) -> Any:
        """However many there are: a transaction's answer is limited."""
        wanted = operation.bounds()
        found = self._store.entries(wanted["from"], wanted.get("to"))
        inside = (entry for entry in found if operation.holds_key(entry.key))
        return operation.told([said_of(entry) for entry in inside])

    def get(self, key: str, default: bytes | None = None, return_owner: bool = False) -> Any:  # type: ignore[override]
        return self._did(get(key, default, return_owner))

    def get_prefix(self, prefix: str, return_owner: bool = False) -> dict[str, Any]:
        found: dict[str, Any] = self._listed(get_prefix(prefix, return_owner))
        return found

    def get_range(self, start: str | None = None, end: str | None = None, return_owner: bool = False) -> dict[str, Any]:
        found: dict[str, Any] = self._listed(get_range(start, end, return_owner))
        return found

    def pop(self, key: str, default: bytes | None = None, return_owner: bool = False) -> Any:  # type: ignore[override]
        return self._did(pop(key, default, return_owner))

    def pop_prefix(self, prefix: str, return_owner: bool = False) -> dict[str, Any]:
        found: dict[str, Any] = self._did(pop_prefix(prefix, return_owner))
        return found

    def pop_range(self, start: str | None = None, end: str | None = None, return_owner: bool = False) -> dict[str, Any]:
        found: dict[str, Any] = self._did(pop_range(start, end, return_owner))
        return found

    def exists(self, key: str) -> bool:
        return bool(self._did(exists(key)))

    def missing(self, key: str) -> bool:
        return bool(self._did(missing(key)))

    def discard(self, key: str) -> bool:
        """Whether it was there."""
        return bool(self._did(discard(key)))

    def discard_prefix(self, prefix: str, return_keys: bool = False) -> Any:
        """How many were deleted, or which."""
        return self._did(discard_prefix(prefix, return_keys))

    def discard_range(self, start: str | None = None, end: str | None = None, return_keys: bool = False) -> Any:
        """How many were deleted, or which."""
        return self._did(discard_range(start, end, return_keys))

    def list_keys(self, start: str | None = None, end: str | None = None, prefix: str | None = None) -> list[str]:
        found: list[str] = self._listed(list_keys(start, end, prefix))
        return found

    def count(self, start: str | None = None, end: str | None = None, prefix: str | None = None) -> int:
        return int(self._listed(count(start, end, prefix)))

    def put(self, key: str, value: bytes | NoChange = no_change, owner: str | NoChange | None = no_change) -> None:
        self._did(put(key, value, owner))

    def swap(
        self,
        key: str,
        value: bytes | NoChange = no_change,
        owner: str | NoChange | None = no_change,
        return_owner: bool = False,
    ) -> Any:
        """The key's previous value."""
        return self._did(swap(key, value, owner, return_owner))

    def setdefault(self, key: str, default: bytes) -> bytes:
        done = self.transaction([exists(key)], [get(key)], [put(key, default)])
        return done.results[0] if done.succeeded else default

    def update(self, *given: Any, **more: bytes) -> None:
        """All of them at once."""
        self.transaction(on_success=[put(key, value) for key, value in dict(*given, **more).items()])

    def clear(self) -> None:
        self.discard_range()

    def wait(self, key: str, return_owner: bool = False) -> Any:
        """The key's value, once it exists."""
        with self.events(key=key, event_type="put") as changes:
            found = self.get(key, return_owner=True)
            if found.value is None:
                found = changes.get().result
        return found if return_owner else found.value

    def event_queue(self) -> EventQueue:
        """Without subscriptions: ``subscribe()`` adds them."""
        return EventQueue(self)

    def events(self, event_filter: EventFilter | None = None, **wanted: str | None) -> EventQueue:
        """A queue with one filter, or with the arguments of one."""
        changes = self.event_queue()
        changes.subscribe(event_filter, **wanted)
        return changes

    def watched_by(self, changes: EventQueue) -> int:
        """The revision after which the queue hears of everything."""
        with self._lock:
            if self._watch is None:
                self._watch = self._store.watch()
                threading.Thread(target=self._tell, args=(self._watch,), daemon=True).start()
            self._queues.add(changes)
            return int(self._store.transact([], [], None)["revision"])

    def left_by(self, changes: EventQueue) -> None:
        with self._lock:
            self._queues.discard(changes)
            if not self._queues and self._watch is not None:
                self._watch.close()
                self._watch = None

    def _tell(self, watch: Watch) -> None:
        error: Exception = TonyError("The job has ended, and with it its key-value store", code="HAS_ENDED")
        try:
            for change in watch:
                with self._lock:
                    for changes in list(self._queues) if watch is self._watch else ():
                        changes.see(change)
        except Exception as lost:
            error = lost
        with self._lock:
            if watch is self._watch:
                self._watch = None
                for changes in list(self._queues):
                    changes.put(error)

    def __getitem__(self, key: str) -> bytes:
        found: ValueOwnerPair = self.get(key, return_owner=True)
        if found.value is None:
            raise KeyError(key)
        return found.value

    def __setitem__(self, key: str, value: bytes) -> None:
        self.put(key, value)

    def __delitem__(self, key: str) -> None:
        if not self.discard(key):
            raise KeyError(key)

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and self.exists(key)

    def __iter__(self) -> Iterator[str]:
        return iter(self.list_keys())

    def __len__(self) -> int:
        return self.count()


def _next_words(operation: Operation, known: Known) -> list[Json]:
    """The words of an operation; keys that it deletes are missing for the next one."""
    words = operation.words(known)
    known.update({key: None for key in known if operation.deletes(key)})
    return words
