"""What Skein's transactions consist of, and the same in operations of a job's store."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Any, Callable, Dict, Mapping, NamedTuple, Sequence

from ..errors import TonyError
from ..in_task import Entry, entry_of

Json = Dict[str, Any]

#: The only prefix under which all tasks may write.
SHARED = "shared/"


class NoChange:
    def __repr__(self) -> str:
        return "no_change"


no_change = NoChange()


class ValueOwnerPair(NamedTuple):
    value: bytes | None
    #: A container's id: ``worker_0``.
    owner: str | None


class TransactionResult(NamedTuple):
    #: Whether all conditions held.
    succeeded: bool
    #: The results of ``on_success`` or of ``on_failure``.
    results: list[Any]


#: What was there before, by key; None where the key was missing.
Known = Dict[str, "ValueOwnerPair | None"]


class Condition:
    """Something that a transaction depends on."""

    key: str

    def holds(self, found: ValueOwnerPair | None) -> bool:
        raise NotImplementedError


class Operation:
    """Something that a transaction does."""

    def depends_on(self) -> str | None:
        """The key that must be read before it is known what to write."""
        return None

    def words(self, known: Known) -> list[Json]:
        """The same in operations of a job's store."""
        raise NotImplementedError

    def deletes(self, key: str) -> bool:
        return False

    def result(self, answers: list[Json]) -> Any:
        """From the answers to these operations."""
        raise NotImplementedError


def is_condition(given: object) -> bool:
    return isinstance(given, Condition)


def is_operation(given: object) -> bool:
    return isinstance(given, Operation)


_COMPARISONS: Mapping[str, Callable[[Any, Any], bool]] = {
    "==": lambda left, right: bool(left == right),
    "!=": lambda left, right: bool(left != right),
    "<": lambda left, right: bool(left < right),
    "<=": lambda left, right: bool(left <= right),
    ">": lambda left, right: bool(left > right),
    ">=": lambda left, right: bool(left >= right),
}


@dataclass(frozen=True)
class comparison(Condition):  # noqa: N801
    """``value("key") == b"x"`` makes one."""

    key: str
    #: ``value`` or ``owner``
    field: str
    operator: str
    rhs: bytes | str | None

    def __post_init__(self) -> None:
        check("key", self.key, str)
        if self.field not in ("value", "owner"):
            raise ValueError(f"field is 'value' or 'owner', not {self.field!r}")
        if self.operator not in _COMPARISONS:
            raise ValueError(f"operator is one of {', '.join(_COMPARISONS)}, not {self.operator!r}")
        if self.field == "value":
            check("what a value is compared with", self.rhs, bytes)
        elif self.rhs is None:
            if self.operator not in ("==", "!="):
                raise TypeError(f"owner({self.key!r}) {self.operator} None: no owner is neither more nor less")
        else:
            check("what an owner is compared with", self.rhs, str)

    def holds(self, found: ValueOwnerPair | None) -> bool:
        held = None if found is None else found.value if self.field == "value" else found.owner
        if held is None or self.rhs is None:
            return (held is self.rhs) == (self.operator == "==") and self.operator in ("==", "!=")
        if isinstance(held, str):
            return _COMPARISONS[self.operator](service_and_instance(held), service_and_instance(str(self.rhs)))
        return _COMPARISONS[self.operator](held, self.rhs)


class _Field:
    def __init__(self, key: str) -> None:
        check("key", key, str)
        self.key = key

    def _compared(self, operator: str, rhs: Any) -> comparison:
        return comparison(self.key, type(self).__name__, operator, rhs)

    def __eq__(self, rhs: Any) -> Any:
        return self._compared("==", rhs)

    def __ne__(self, rhs: Any) -> Any:
        return self._compared("!=", rhs)

    def __lt__(self, rhs: Any) -> comparison:
        return self._compared("<", rhs)

    def __le__(self, rhs: Any) -> comparison:
        return self._compared("<=", rhs)

    def __gt__(self, rhs: Any) -> comparison:
        return self._compared(">", rhs)

    def __ge__(self, rhs: Any) -> comparison:
        return self._compared(">=", rhs)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.key!r})"


class value(_Field):  # noqa: N801
    """A key's value, for conditions: ``value("key") == b"x"``."""


class owner(_Field):  # noqa: N801
    """A key's owner, for conditions: ``owner("key") == "worker_0"``, ``owner("key") != None``."""


@dataclass(frozen=True)
class get(Operation):  # noqa: N801
    """The key's value, ``default`` where it is missing; with ``return_owner`` a ``ValueOwnerPair``."""

    key: str
    default: bytes | None = None
    return_owner: bool = False

    def __post_init__(self) -> None:
        check("key", self.key, str)
        check("default", self.default, bytes, type(None))
        check("return_owner", self.return_owner, bool)

    def words(self, known: Known) -> list[Json]:
        return [get_words(self.key)]

    def result(self, answers: list[Json]) -> Any:
        found = held_in(answers[0].get("entry")) or ValueOwnerPair(self.default, None)
        return found if self.return_owner else found.value


@dataclass(frozen=True)
class pop(get):  # noqa: N801
    """The same, and deletes the key."""

    def words(self, known: Known) -> list[Json]:
        return [get_words(self.key), delete_words(self.key)]

    def deletes(self, key: str) -> bool:
        return key == self.key


@dataclass(frozen=True)
class exists(Operation, Condition):  # noqa: N801
    """Whether the key is there."""

    key: str

    def __post_init__(self) -> None:
        check("key", self.key, str)

    def words(self, known: Known) -> list[Json]:
        return [get_words(self.key)]

    def result(self, answers: list[Json]) -> bool:
        return "entry" in answers[0]

    def holds(self, found: ValueOwnerPair | None) -> bool:
        return found is not None


@dataclass(frozen=True)
class missing(exists):  # noqa: N801
    """Whether the key is missing."""

    def result(self, answers: list[Json]) -> bool:
        return not super().result(answers)

    def holds(self, found: ValueOwnerPair | None) -> bool:
        return found is None


@dataclass(frozen=True)
class discard(Operation):  # noqa: N801
    """Deletes the key; whether it was there."""

    key: str

    def __post_init__(self) -> None:
        check("key", self.key, str)

    def words(self, known: Known) -> list[Json]:
        return [delete_words(self.key)]

    def deletes(self, key: str) -> bool:
        return key == self.key

    def result(self, answers: list[Json]) -> bool:
        return bool(answers[0]["deleted"])


class Keys(Operation):
    """Keys of a prefix, or from ``start`` to before ``end``."""

    #: Whether the listed keys are also deleted.
    takes = False

    def bounds(self) -> Json:
        """Raises TypeError where its bounds are no strings."""
        raise NotImplementedError

    def keys_only(self) -> bool:
        return False

    def told(self, entries: list[Json]) -> Any:
        raise NotImplementedError

    def _list(self) -> Json:
        return {"type": "list", "keysOnly": self.keys_only(), **self.bounds()}

    def words(self, known: Known) -> list[Json]:
        return [self._list(), {"type": "delete", **self.bounds()}] if self.takes else [self._list()]

    def deletes(self, key: str) -> bool:
        return self.takes and self.holds_key(SHARED + key)

    def holds_key(self, key: str) -> bool:
        """Whether it covers a key of the job's store."""
        bounds = self.bounds()
        return key.startswith(bounds["prefix"]) and bounds["from"] <= key and ("to" not in bounds or key < bounds["to"])

    def result(self, answers: list[Json]) -> Any:
        check_whole(answers[0])
        return self.told(answers[0]["entries"])


class _Values(Keys):
    return_owner: bool

    def __post_init__(self) -> None:
        self.bounds()
        check("return_owner", self.return_owner, bool)

    def told(self, entries: list[Json]) -> dict[str, Any]:
        pairs = {entry["key"][len(SHARED) :]: pair for entry in entries if (pair := held_in(entry)) is not None}
        return dict(pairs) if self.return_owner else {key: pair.value for key, pair in pairs.items()}


@dataclass(frozen=True)
class get_prefix(_Values):  # noqa: N801
    """All keys with that prefix, with their values, in order."""

    prefix: str
    return_owner: bool = False

    def bounds(self) -> Json:
        return _range(prefix=self.prefix)


@dataclass(frozen=True)
class pop_prefix(get_prefix):  # noqa: N801
    """The same, and deletes them."""

    takes = True


@dataclass(frozen=True)
class get_range(_Values):  # noqa: N801
    """All keys from ``start`` to before ``end``, with their values, in order."""

    start: str | None = None
    end: str | None = None
    return_owner: bool = False

    def bounds(self) -> Json:
        return _range(start=self.start, end=self.end)


@dataclass(frozen=True)
class pop_range(get_range):  # noqa: N801
    """The same, and deletes them."""

    takes = True


@dataclass(frozen=True)
class list_keys(Keys):  # noqa: N801
    """Keys, in order."""

    start: str | None = None
    end: str | None = None
    prefix: str | None = None

    def __post_init__(self) -> None:
        if self.prefix is not None and (self.start is not None or self.end is not None):
            raise ValueError("give a prefix, or start and end")
        self.bounds()

    def bounds(self) -> Json:
        return _range(start=self.start, end=self.end, prefix=self.prefix)

    def keys_only(self) -> bool:
        return True

    def told(self, entries: list[Json]) -> Any:
        return [entry["key"][len(SHARED) :] for entry in entries]


@dataclass(frozen=True)
class count(list_keys):  # noqa: N801
    """How many keys there are."""

    def told(self, entries: list[Json]) -> Any:
        return len(entries)


class _Discards(Keys):
    takes = True
    return_keys: bool

    def __post_init__(self) -> None:
        self.bounds()
        check("return_keys", self.return_keys, bool)

    def keys_only(self) -> bool:
        return True

    def words(self, known: Known) -> list[Json]:
        # The number of deleted keys is reported without a list, however many they are.
        return super().words(known)[0 if self.return_keys else 1 :]

    def result(self, answers: list[Json]) -> Any:
        return super().result(answers) if self.return_keys else answers[0]["deleted"]

    def told(self, entries: list[Json]) -> Any:
        return [entry["key"][len(SHARED) :] for entry in entries]


@dataclass(frozen=True)
class discard_prefix(_Discards):  # noqa: N801
    """Deletes all keys with that prefix; how many there were, with ``return_keys`` which."""

    prefix: str
    return_keys: bool = False

    def bounds(self) -> Json:
        return _range(prefix=self.prefix)


@dataclass(frozen=True)
class discard_range(_Discards):  # noqa: N801
    """Deletes all keys from ``start`` to before ``end``; how many there were, with ``return_keys`` which."""

    start: str | None = None
    end: str | None = None
    return_keys: bool = False

    def bounds(self) -> Json:
        return _range(start=self.start, end=self.end)


@dataclass(frozen=True)
class put(Operation):  # noqa: N801
    """Writes a key's value, its owner, or both; what is not given stays. ``owner=None``: no owner."""

    key: str
    value: bytes | NoChange = no_change
    owner: str | NoChange | None = no_change

    def __post_init__(self) -> None:
        check("key", self.key, str)
        if self.value is no_change and self.owner is no_change:
            raise ValueError("give a value, an owner, or both")
        check("value", self.value, bytes, NoChange)
        check("owner", self.owner, str, type(None), NoChange)
        if isinstance(self.owner, str):
            service_and_instance(self.owner)

    def depends_on(self) -> str | None:
        return self.key if isinstance(self.value, NoChange) or isinstance(self.owner, NoChange) else None

    def pair_now(self, before: ValueOwnerPair | None) -> ValueOwnerPair:
        if isinstance(self.value, NoChange):
            if before is None:
                raise ValueError(f"{self.key!r} is missing: give it a value, too")
            held = before.value
        else:
            held = self.value
        kept = None if before is None else before.owner
        return ValueOwnerPair(held, kept if isinstance(self.owner, NoChange) else self.owner)

    def words(self, known: Known) -> list[Json]:
        pair = self.pair_now(known.get(self.key))
        data = base64.b64encode(pair.value or b"").decode()
        return [{"type": "put", "key": SHARED + self.key, "valueBase64": data, "owner": pair.owner}]

    def result(self, answers: list[Json]) -> Any:
        return None


@dataclass(frozen=True)
class swap(put):  # noqa: N801
    """The same, and the key's previous value; with ``return_owner`` a ``ValueOwnerPair``."""

    return_owner: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        check("return_owner", self.return_owner, bool)

    def result(self, answers: list[Json]) -> Any:
        found = held_in(answers[0].get("before")) or ValueOwnerPair(None, None)
        return found if self.return_owner else found.value


def get_words(key: str) -> Json:
    return {"type": "get", "key": SHARED + key}


def delete_words(key: str) -> Json:
    return {"type": "delete", "key": SHARED + key}


def _range(*, start: str | None = None, end: str | None = None, prefix: str | None = None) -> Json:
    for name, given in {"start": start, "end": end, "prefix": prefix}.items():
        check(name, given, str, type(None))
    to = {} if end is None else {"to": SHARED + end}
    return {"prefix": SHARED + (prefix or ""), "from": SHARED + (start or ""), **to}


def held_in(said: Json | None) -> ValueOwnerPair | None:
    return None if said is None else pair_of(entry_of(said))


def pair_of(entry: Entry) -> ValueOwnerPair:
    return ValueOwnerPair(entry.value, None if entry.owner is None else container_id(entry.owner))


def said_of(entry: Entry) -> Json:
    owned = {} if entry.owner is None else {"owner": {"task": entry.owner}}
    numbers = {"created": entry.created, "modified": entry.modified, "version": entry.version}
    return {"key": entry.key, "valueBase64": base64.b64encode(entry.value).decode(), **numbers, **owned}


#: The prefix for names of services that have a meaning as roles: ``ps`` becomes ``role-ps``.
ROLE = "role-"


def service_of(role: str) -> str:
    """The original name of a service."""
    return role[len(ROLE) :] if role.startswith(ROLE) else role


def container_id(task: str) -> str:
    """``worker:0`` is Skein's ``worker_0``."""
    role, _, index = task.rpartition(":")
    return f"{service_of(role)}_{index}"


def task_of(container: str) -> str:
    service, instance = service_and_instance(container)
    return f"{service}:{instance}"


def service_and_instance(container: str) -> tuple[str, int]:
    """The service, under the name of its role."""
    service, _, instance = container.rpartition("_")
    if not service or not instance.isdecimal():
        raise ValueError(f"a container's id is its service and its number, worker_0, not {container!r}")
    return service.lower().replace("_", "-"), int(instance)


def check(name: str, given: object, *kinds: type) -> None:
    if not isinstance(given, kinds):
        raise TypeError(f"{name} is {' or '.join(kind.__name__ for kind in kinds)}, not {given!r}")


def check_all(name: str, given: Sequence[object], kind: type) -> None:
    if not all(isinstance(one, kind) for one in given):
        raise TypeError(f"{name} is a list of {kind.__name__}")


def check_whole(listed: Json) -> None:
    if listed["more"]:
        message = "These keys are more than one answer of a transaction holds: ask for fewer of them at a time"
        raise TonyError(message, code="TOO_MANY_KEYS")
