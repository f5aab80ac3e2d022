"""Group commit for writes to the key-value store: puts made while a call is under way go into the next one."""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from concurrent.futures import Future
from operator import methodcaller
from typing import Callable, Iterable, Iterator, NamedTuple, Protocol, Sequence, TypeVar

from .task_api import PATIENCE_S, TaskError

#: In one transaction (storeLimits.operations).
MOST_TOGETHER = 128
#: Bytes of the values of one call, whose body has some room beyond them (MOST_API_BODY_BYTES).
MOST_BYTES_TOGETHER = 64 << 10
#: Puts that nobody waits for: enough for two calls.
MOST_IN_FLIGHT = 2 * MOST_TOGETHER

#: Nothing was written.
_REFUSALS = {"BAD_CALL", "FORBIDDEN", "INVALID", "LIMIT", "NO_OWNER", "TOO_LONG"}
#: Nothing was written, and it can be tried again while there is time.
_NOT_YET = {"NO_MASTER", "BUSY"}
#: A woken thread takes longer than this only when another one computes.
_LATE_S = 0.002
#: In which a call finds out whether there is an ApplicationMaster.
_A_MOMENT_S = 0.001
#: Mapped over locks: no interrupt can come between taking a lock from the list and releasing it.
_release = methodcaller("release")
_INTERRUPTED = "the thread that wrote it was interrupted: it may be written or not; read it"


class Put(NamedTuple):
    """A write without a condition."""

    key: str
    value: str | bytes
    owned: bool


class _HasPut(Protocol):
    @property
    def put(self) -> Put: ...


_P = TypeVar("_P", bound=_HasPut)


def _next_call(waiting: Iterable[_P], *, in_order: bool) -> tuple[list[_P], list[_P]]:
    """
    What goes into one call, and what waits for a later one; a call has each key only once, as a transaction does.
    ``in_order``: everything after a put that waits also waits.
    """
    batch: list[_P] = []
    later: list[_P] = []
    keys: set[str] = set()
    size = 0
    for one in waiting:
        size += len(one.put.value)
        is_full = len(batch) == MOST_TOGETHER or size > MOST_BYTES_TOGETHER
        if batch and (is_full or one.put.key in keys or (in_order and later)):
            later.append(one)
        else:
            keys.add(one.put.key)
            batch.append(one)
    return batch, later


def _left(over_at: float, now: float) -> float:
    """In seconds."""
    return max(over_at - now, _A_MOMENT_S)


def _copy(error: TaskError) -> TaskError:
    """A copy for each thread, because raising an error adds to its traceback."""
    return type(error)(str(error), code=error.code, retryable=error.retryable)


class _Call:
    """A call, from the choice of the thread that makes it until all have their answers."""

    __slots__ = ("_telling", "_told_at", "unanswered")

    def __init__(self) -> None:
        #: Puts whose threads wait for its answer, without the thread that makes it.
        self.unanswered: dict[_Pending, None] = {}
        #: Wakes one of them with each step.
        self._telling: Iterator[None] | None = None
        #: When one was last woken, by the monotonic clock.
        self._told_at = 0.0

    def tell(self, now: float) -> bool:
        """The answer is there: wakes one of those that wait for it. Returns whether there was none left."""
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
        #: The call that contains it, or that it is to make.
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


class _PutLater(NamedTuple):
    """A put whose caller has gone on."""

    put: Put
    #: By the monotonic clock.
    over_at: float
    future: Future[int]


class GatheredPuts:
    """
    One call at a time: the first of the waiting threads makes it for all of them. When it is answered they wake each
    other, one by one, because threads that wake all at once wait for each other. The last one lets the next call begin,
    which includes the puts that were made meanwhile.
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
        # A forked process has neither the waiting threads nor the one that makes a call.
        os.register_at_fork(after_in_child=self._begin)

    def _begin(self) -> None:
        self._lock = threading.Lock()
        self._waiting: dict[_Pending, None] = {}
        #: The call under way.
        self._call: _Call | None = None

    def put(self, put: Put) -> int:
        """
        Returns the revision, within a minute. Raises TaskError for what is wrong with this put, but not with others of
        its call.
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
                # It was interrupted; without this, others would sleep on.
                self._leave(pending)
                raise
        outcome = pending.outcome
        if isinstance(outcome, int):
            return outcome
        if outcome is None:
            raise TaskError(_INTERRUPTED, code="UNKNOWN", retryable=True)
        if pending.is_shared and outcome.code in _REFUSALS:
            return self._write([put], _left(over_at, self._clock()))
        if pending.is_shared and outcome.code in _NOT_YET and self._clock() < over_at:
            # The call had no more time than the oldest put in it.
            return self._put(put, over_at)
        raise _copy(outcome)

    def _lead(self, leader: _Pending) -> None:
        batch = self._next(leader)
        outcome = self._outcome_of(batch)
        for pending in batch:
            pending.is_shared = len(batch) > 1
            pending.outcome = outcome

    def _outcome_of(self, batch: list[_Pending]) -> int | TaskError:
        try:
            return self._write([pending.put for pending in batch], _left(batch[0].over_at, self._clock()))
        except TaskError as error:
            return error

    def _next(self, leader: _Pending) -> list[_Pending]:
        """The waiting puts, the leader first."""
        with self._lock:
            batch, later = _next_call(self._waiting, in_order=False)
            for pending in batch:
                pending.call = leader.call
            if leader.call is not None:
                leader.call.unanswered = dict.fromkeys(batch[1:])
            self._waiting = dict.fromkeys(later)
        return batch

    def _leave(self, pending: _Pending) -> None:
        """However it ends, the next one is woken, or the next call begins."""
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
        """The first waiting put makes a call for all of them; call this with the lock held."""
        self._call = None
        for leader in self._waiting:
            self._call = leader.call = _Call()
            leader.leads = True
            leader.told.release()
            return


class LaterPuts:
    """Puts answered by futures: one thread writes them, in the order of the calls. It ends when none is left."""

    def __init__(
        self, write: Callable[[Sequence[Put], float], int], *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """
        :param write: as in GatheredPuts
        """
        self._write = write
        self._clock = clock
        self._begin()
        os.register_at_fork(after_in_child=self._begin)

    def _begin(self) -> None:
        self._changed = threading.Condition()
        self._waiting: list[_PutLater] = []
        #: Those that are in a call.
        self._under_way: list[_PutLater] = []
        #: Set while there are any.
        self._writer: threading.Thread | None = None

    def put(self, put: Put) -> Future[int]:
        """
        Returns at once, or when fewer than MOST_IN_FLIGHT are pending; within a future's callback, for which they wait,
        always at once. The answer comes within a minute.
        """
        later = _PutLater(put, self._clock() + PATIENCE_S, Future())
        # It cannot be cancelled: nobody would know whether it is in a call.
        later.future.set_running_or_notify_cancel()
        with self._changed:
            while self._is_full and threading.current_thread() is not self._writer:
                self._changed.wait()
            if self._writer is None:
                # No daemon: a program that reaches its end waits for its puts.
                writer = threading.Thread(target=self._write_all, name="tony-ts puts")
                writer.start()
                self._writer = writer
            self._waiting.append(later)
        return later.future

    @property
    def _is_full(self) -> bool:
        return len(self._waiting) + len(self._under_way) >= MOST_IN_FLIGHT

    def _write_all(self) -> None:
        while self._take():
            self._answer(self._under_way)

    def _take(self) -> bool:
        """Whether there is another call to make."""
        with self._changed:
            self._under_way, self._waiting = _next_call(self._waiting, in_order=True)
            if not self._under_way:
                self._writer = None
            self._changed.notify_all()
            return self._writer is not None

    def _answer(self, batch: list[_PutLater]) -> None:
        try:
            revision = self._write([later.put for later in batch], _left(batch[0].over_at, self._clock()))
        except Exception as error:
            self._fail(batch, error)
            return
        for later in batch:
            later.future.set_result(revision)

    def _fail(self, batch: list[_PutLater], error: Exception) -> None:
        code = error.code if isinstance(error, TaskError) and len(batch) > 1 else None
        again: list[_PutLater] = []
        for later in batch:
            if code in _REFUSALS:
                self._answer([later])
            elif code in _NOT_YET and self._clock() < later.over_at:
                # The call had no more time than the oldest put in it.
                again.append(later)
            else:
                later.future.set_exception(_copy(error) if isinstance(error, TaskError) else error)
        if again:
            with self._changed:
                self._waiting[:0] = again
