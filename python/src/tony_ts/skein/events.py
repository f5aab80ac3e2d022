"""Skein's events: changes of keys that somebody has subscribed to."""

from __future__ import annotations

import queue
from enum import Enum
from typing import Any, Iterator, Mapping, NamedTuple, Protocol

from ..in_task import Change
from .operations import SHARED, ValueOwnerPair, check, pair_of


class EventType(str, Enum):
    ALL = "ALL"
    PUT = "PUT"
    DELETE = "DELETE"

    @classmethod
    def _missing_(cls, value: object) -> EventType:
        for known in cls:
            if isinstance(value, str) and known.value == value.upper():
                return known
        kind: type[Exception] = ValueError if isinstance(value, str) else TypeError
        raise kind(f"event_type is ALL, PUT or DELETE, not {value!r}")


class EventFilter:
    """
    Which changes to hear of: of a key, of a prefix, or from ``start`` to before ``end``; all changes without any of
    these.
    """

    def __init__(
        self,
        key: str | None = None,
        prefix: str | None = None,
        start: str | None = None,
        end: str | None = None,
        event_type: str | None = None,
    ) -> None:
        if (key is not None) + (prefix is not None) + (start is not None or end is not None) > 1:
            raise ValueError("give a key, a prefix, or start and end")
        for name, given in {"key": key, "prefix": prefix, "start": start, "end": end}.items():
            check(name, given, str, type(None))
        if key is not None:
            start, end = key, key + "\0"
        elif prefix:
            start, end = prefix, prefix[:-1] + chr(ord(prefix[-1]) + 1)
        self.start = start
        self.end = end
        self.event_type = EventType.ALL if event_type is None else EventType(event_type)

    def takes(self, key: str, event_type: EventType) -> bool:
        inside = (self.start or "") <= key and (self.end is None or key < self.end)
        return inside and self.event_type in (EventType.ALL, event_type)

    def _parts(self) -> tuple[object, ...]:
        return self.start, self.end, self.event_type

    def __eq__(self, other: object) -> bool:
        return isinstance(other, EventFilter) and self._parts() == other._parts()

    def __hash__(self) -> int:
        return hash(self._parts())

    def __repr__(self) -> str:
        return f"EventFilter(start={self.start!r}, end={self.end!r}, event_type={self.event_type.value!r})"


class Event(NamedTuple):
    """A key that was written or deleted."""

    key: str
    #: None: the key was deleted.
    result: ValueOwnerPair | None
    event_type: EventType
    #: The queue's filter that it matched.
    event_filter: EventFilter


class Watched(Protocol):
    """A store that reports its changes."""

    def watched_by(self, changes: EventQueue) -> int:
        """The revision after which the queue hears of everything."""
        ...

    def left_by(self, changes: EventQueue) -> None: ...


class EventQueue:
    """
    Changes in their order, each once for each filter that matches it, from the moment of its subscription. When they
    end, with the job or because some of them are forgotten, ``get()`` raises the reason.
    """

    def __init__(self, store: Watched) -> None:
        self._store = store
        #: The revision after which each begins.
        self._since: dict[EventFilter, int] = {}
        self._queue: queue.Queue[Any] = queue.Queue()
        self._error: Exception | None = None

    @property
    def filters(self) -> set[EventFilter]:
        return set(self._since)

    def subscribe(self, event_filter: EventFilter | None = None, **wanted: str | None) -> EventFilter:
        """A filter, or the arguments of one: ``key``, ``prefix``, ``start`` and ``end``, ``event_type``."""
        found = _filter(event_filter, wanted)
        if found not in self._since:
            self._since[found] = self._store.watched_by(self)
        return found

    def unsubscribe(self, event_filter: EventFilter | None = None, **wanted: str | None) -> EventFilter:
        found = _filter(event_filter, wanted)
        if found not in self._since:
            raise ValueError(f"{found!r} is not subscribed")
        del self._since[found]
        if not self._since:
            self._store.left_by(self)
        return found

    def unsubscribe_all(self) -> None:
        for found in self.filters:
            self.unsubscribe(found)

    def get(self, block: bool = True, timeout: float | None = None) -> Any:
        """As ``queue.Queue.get``."""
        if self._error is not None:
            raise self._error
        found = self._queue.get(block, timeout)
        if isinstance(found, Exception):
            self._error = found
            raise found
        return found

    def put(self, item: object, block: bool = True, timeout: float | None = None) -> None:
        self._queue.put(item, block, timeout)

    def see(self, change: Change) -> None:
        key = change.key[len(SHARED) :]
        event_type = EventType.DELETE if change.entry is None else EventType.PUT
        result = None if change.entry is None else pair_of(change.entry)
        for found, since in list(self._since.items()):
            if change.revision > since and found.takes(key, event_type):
                self._queue.put(Event(key, result, event_type, found))

    def __iter__(self) -> Iterator[Any]:
        while True:
            yield self.get()

    def __enter__(self) -> EventQueue:
        return self

    def __exit__(self, *_: object) -> None:
        self.unsubscribe_all()

    def __del__(self) -> None:
        self.unsubscribe_all()

    def __repr__(self) -> str:
        return f"EventQueue<{len(self._since)} filters>"


def _filter(event_filter: EventFilter | None, wanted: Mapping[str, str | None]) -> EventFilter:
    if event_filter is None:
        return EventFilter(**wanted)
    if wanted:
        raise ValueError("give a filter, or the arguments of one")
    if not isinstance(event_filter, EventFilter):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"an EventFilter, not {event_filter!r}")
    return event_filter
