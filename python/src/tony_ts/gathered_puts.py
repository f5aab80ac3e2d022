"""Group commit for writes of the key-value store: what threads put while a call is under way goes into the next one."""

from __future__ import annotations

import os
import threading
import time
from typing import Callable, NamedTuple, Sequence

from .task_api import PATIENCE_S, TaskError

#: Of one transaction (storeLimits.operations).
MOST_TOGETHER = 128
#: Of the values of one call, whose body has some room beyond them (MOST_API_BODY_BYTES).
MOST_BYTES_TOGETHER = 64 << 10

#: Nothing was written.
_REFUSALS = {"BAD_CALL", "FORBIDDEN", "INVALID", "LIMIT", "NO_OWNER", "TOO_LONG"}
#: Nothing was written, and it can be tried again while there is time.
_NOT_YET = {"NO_MASTER", "BUSY"}
_INTERRUPTED = "the thread that wrote it was interrupted: it may be written or not; read it"


class Put(NamedTuple):
    """A write without a condition."""

    key: str
    value: str | bytes
    owned: bool


class _Pending:
    """A put until it is answered."""

    __slots__ = ("is_shared", "leads", "outcome", "over_at", "put", "told")

    def __init__(self, put: Put, over_at: float) -> None:
        self.put = put
        #: By the monotonic clock.
        self.over_at = over_at
        #: Its thread makes the next call.
        self.leads = False
        #: Other puts are in the same call.
        self.is_shared = False
        #: Locked until it is answered, or leads.
        self.told = threading.Lock()
        self.told.acquire()
        #: The revision, or why there is none; None: nobody knows.
        self.outcome: int | TaskError | None = None


class GatheredPuts:
    """One call at a time: the first of those that wait makes it for all of them."""

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
        self._waiting: list[_Pending] = []
        self._is_busy = False
        #: The last call had several.
        self._was_shared = False

    def put(self, put: Put) -> int:
        """
        Returns the revision, within a minute. Raises TaskError for what is wrong with this put, not with others of its
        call.
        """
        return self._put(put, self._clock() + PATIENCE_S)

    def _put(self, put: Put, over_at: float) -> int:
        pending = _Pending(put, over_at)
        with self._lock:
            pending.leads = not self._is_busy
            self._is_busy = True
            self._waiting.append(pending)
        try:
            if not pending.leads:
                pending.told.acquire()
            if pending.leads:
                self._lead()
        finally:
            self._leave(pending)
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

    def _lead(self) -> None:
        if self._was_shared:
            # Those that were answered at the same time may put again: it would go before them, alone.
            time.sleep(0)
        batch = self._next()
        self._was_shared = len(batch) > 1
        try:
            outcome = self._outcome_of(batch)
            for pending in batch:
                pending.outcome = outcome
                pending.is_shared = self._was_shared
        finally:
            for pending in batch[1:]:
                pending.told.release()

    def _outcome_of(self, batch: list[_Pending]) -> int | TaskError:
        try:
            return self._write([pending.put for pending in batch], self._left(batch[0].over_at))
        except TaskError as error:
            return error

    def _left(self, over_at: float) -> float:
        """In seconds; a call has a moment at least, in which it finds out whether there is an ApplicationMaster."""
        return max(over_at - self._clock(), 0.001)

    def _next(self) -> list[_Pending]:
        """Those that wait, the first one among them; each key once, as a transaction has it."""
        batch: list[_Pending] = []
        later: list[_Pending] = []
        keys: set[str] = set()
        size = 0
        with self._lock:
            for pending in self._waiting:
                size += len(pending.put.value)
                is_full = len(batch) == MOST_TOGETHER or size > MOST_BYTES_TOGETHER
                if batch and (is_full or pending.put.key in keys):
                    later.append(pending)
                else:
                    keys.add(pending.put.key)
                    batch.append(pending)
            self._waiting = later
        return batch

    def _leave(self, pending: _Pending) -> None:
        """However it ends, the next one leads."""
        with self._lock:
            if pending in self._waiting:
                self._waiting.remove(pending)
            if not pending.leads:
                return
            self._is_busy = bool(self._waiting)
            for following in self._waiting[:1]:
                following.leads = True
                following.told.release()
