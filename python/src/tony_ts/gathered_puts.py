"""Group commit for writes of the key-value store: what threads put while a call is under way goes into the next one."""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from operator import methodcaller
from typing import Callable, Iterator, NamedTuple, Sequence

from .task_api import PATIENCE_S, TaskError

#: Of one transaction (storeLimits.operations).
MOST_TOGETHER = 128
#: Of the values of one call, whose body has some room beyond them (MOST_API_BODY_BYTES).
MOST_BYTES_TOGETHER = 64 << 10

#: Nothing was written.
_REFUSALS = {"BAD_CALL", "FORBIDDEN", "INVALID", "LIMIT", "NO_OWNER", "TOO_LONG"}
#: Nothing was written, and it can be tried again while there is time.
_NOT_YET = {"NO_MASTER", "BUSY"}
#: A thread that is woken waits longer than this only where another one computes.
_LATE_S = 0.002
#: Mapped over locks: no interrupt comes between taking one and releasing it.
_release = methodcaller("release")
_INTERRUPTED = "the thread that wrote it was interrupted: it may be written or not; read it"


class Put(NamedTuple):
    """A write without a condition."""

    key: str
    value: str | bytes
    owned: bool


class _Call:
    """From when a thread is to make it until all have their answers."""

    __slots__ = ("_telling", "_told_at", "unanswered")

    def __init__(self) -> None:
        #: Those whose threads wait for its answer; not the one that makes it.
        self.unanswered: dict[_Pending, None] = {}
        #: Wakes one of them with each step.
        self._telling: Iterator[None] | None = None
        #: When one was woken last, by the monotonic clock.
        self._told_at = 0.0

    def tell(self, now: float) -> bool:
        """Wakes one of those that wait for its answer, which is there. Returns whether there was none left."""
        if self._telling is None:
            self._telling = map(_release, [pending.told for pending in self.unanswered])
        elif now - self._told_at > _LATE_S:
            # Each would wait as long before it wakes the next one.
            deque(self._telling, maxlen=0)
        self._told_at = now
        return next(self._telling, True) is True

    @property
    def is_answered(self) -> bool:
        return self._telling is not None


class _Pending:
    """A put until it is answered."""

    __slots__ = ("call", "is_shared", "leads", "outcome", "over_at", "put", "told")

    def __init__(self, put: Put, over_at: float) -> None:
        self.put = put
        #: By the monotonic clock.
        self.over_at = over_at
        #: That it is in, or is to make.
        self.call: _Call | None = None
        #: Its thread makes the call.
        self.leads = False
        #: Other puts are in the same call.
        self.is_shared = False
        #: Locked until it is answered, or leads.
        self.told = threading.Lock()
        self.told.acquire()
        #: The revision, or why there is none; None: nobody knows.
        self.outcome: int | TaskError | None = None


class GatheredPuts:
    """
    One call at a time: the first of those that wait makes it for all of them. When it is answered they wake each other,
    one by one: threads that wake all at once wait for each other. The last one lets the next call begin, in which those
    are that put again meanwhile.
    """

    def __init__(
        self, write: Callable[[Sequence[Put], float], int], *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """
        :param write: puts all of them at one revision, which it returns, within so many seconds; or raises TaskError
        """
        self._write = write
        self._clock = clock
        self._begin()
        # The threads that wait, and the one that makes a call, are not in a forked process.
        os.register_at_fork(after_in_child=self._begin)

    def _begin(self) -> None:
        self._lock = threading.Lock()
        self._waiting: dict[_Pending, None] = {}
        #: That is under way.
        self._call: _Call | None = None

    def put(self, put: Put) -> int:
        """
        Returns the revision, within a minute. Raises TaskError for what is wrong with this put, not with others of its
        call.
        """
        return self._put(put, self._clock() + PATIENCE_S)

    def _put(self, put: Put, over_at: float) -> int:
        pending = _Pending(put, over_at)
        try:
            with self._lock:
                self._waiting[pending] = None
                if self._call is None:
                    self._begin_next()
            pending.told.acquire()
            if pending.leads:
                self._lead(pending)
        finally:
            try:
                self._leave(pending)
            except BaseException:
                # It was interrupted, and others would sleep on.
                self._leave(pending)
                raise
        outcome = pending.outcome
        if isinstance(outcome, int):
            return outcome
        if outcome is None:
            raise TaskError(_INTERRUPTED, code="UNKNOWN", retryable=True)
        if pending.is_shared and outcome.code in _REFUSALS:
            return self._write([put], self._left(over_at))
        if pending.is_shared and outcome.code in _NOT_YET and self._clock() < over_at:
            # The call had no more time than the oldest put in it.
            return self._put(put, over_at)
        # Not the same object in several threads: raising it adds to its traceback.
        raise type(outcome)(str(outcome), code=outcome.code, retryable=outcome.retryable)

    def _lead(self, leader: _Pending) -> None:
        batch = self._next(leader)
        outcome = self._outcome_of(batch)
        for pending in batch:
            pending.is_shared = len(batch) > 1
            pending.outcome = outcome

    def _outcome_of(self, batch: list[_Pending]) -> int | TaskError:
        try:
            return self._write([pending.put for pending in batch], self._left(batch[0].over_at))
        except TaskError as error:
            return error

    def _left(self, over_at: float) -> float:
        """In seconds; a call has a moment at least, in which it finds out whether there is an ApplicationMaster."""
        return max(over_at - self._clock(), 0.001)

    def _next(self, leader: _Pending) -> list[_Pending]:
        """Those that wait, the leader first; each key once, as a transaction has it."""
        batch: list[_Pending] = []
        later: dict[_Pending, None] = {}
        keys: set[str] = set()
        size = 0
        with self._lock:
            for pending in self._waiting:
                size += len(pending.put.value)
                is_full = len(batch) == MOST_TOGETHER or size > MOST_BYTES_TOGETHER
                if batch and (is_full or pending.put.key in keys):
                    later[pending] = None
                else:
                    keys.add(pending.put.key)
                    batch.append(pending)
                    pending.call = leader.call
            if leader.call is not None:
                leader.call.unanswered = dict.fromkeys(batch[1:])
            self._waiting = later
        return batch

    def _leave(self, pending: _Pending) -> None:
        """However it ends, the next one is told, or the next call begins."""
        with self._lock:
            call = pending.call
            if call is None or pending.leads:
                self._waiting.pop(pending, None)
            if call is None:
                return
            if not (pending.leads or call.is_answered):
                call.unanswered.pop(pending, None)
            elif call.tell(self._clock()) and call is self._call:
                self._begin_next()

    def _begin_next(self) -> None:
        """The first of those that wait makes a call for all of them; with the lock held."""
        self._call = None
        for leader in self._waiting:
            self._call = leader.call = _Call()
            leader.leads = True
            leader.told.release()
            return
