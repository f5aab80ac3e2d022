"""Waits for jobs: all waits of a process share one run of the command line, however many jobs there are."""

from __future__ import annotations

import atexit
import contextlib
import os
import threading
from typing import Callable, Generator, Union, cast

from .errors import TonyError, error_of
from .process import Child, died, parsed
from .shapes import Event

#: An event of a job, or the reason why nothing more is heard of it.
Heard = Union[Event, TonyError]
Tell = Callable[[Heard], None]

_lock = threading.Lock()
#: By everything that a child inherits from its parent: a wait with other variables may mean another cluster.
_followers: dict[tuple[object, ...], Follower] = {}
#: Followers of a forked process's parent: this process must not end them.
_inherited: list[object] = []


@contextlib.contextmanager
def listening(job_id: str, tell: Tell) -> Generator[None, None, None]:
    """
    Reports on a job until the context is left: its last state and its events, up to ``end``.

    :param tell: called by another thread, which it must not block
    """
    surroundings = (os.getcwd(), *sorted(os.environ.items()))
    with _lock:
        follower = _followers.get(surroundings)
        if follower is None:
            follower = _followers[surroundings] = Follower()
        follower.listen(job_id, tell)
    try:
        yield
    finally:
        with _lock:
            is_over = follower.leave(job_id, tell)
            if is_over and _followers.get(surroundings) is follower:
                del _followers[surroundings]
        if is_over:
            follower.close()


class Follower:
    """One run of the command line, which is told of jobs to follow as they are added. ``_lock`` guards its state."""

    def __init__(self) -> None:
        self._child = Child(["wait", "--stdin", "--json"], follows=True, asked=True)
        self._listeners: dict[str, list[Tell]] = {}
        #: The last status of each followed job; None where none was heard yet.
        self._status: dict[str, Event | None] = {}
        self._problem: TonyError | None = None
        self._reader = threading.Thread(target=self._read, name="tony-ts waits", daemon=True)
        self._reader.start()

    def listen(self, job_id: str, tell: Tell) -> None:
        self._listeners.setdefault(job_id, []).append(tell)
        if self._problem is not None:
            tell(self._problem)
        elif job_id not in self._status:
            self._status[job_id] = None
            # The reading thread reports that the child has died.
            with contextlib.suppress(OSError):
                self._child.ask(job_id)
        elif (status := self._status[job_id]) is not None:
            tell(status)

    def leave(self, job_id: str, tell: Tell) -> bool:
        """Returns whether nobody waits any more."""
        self._listeners[job_id].remove(tell)
        if not self._listeners[job_id]:
            del self._listeners[job_id]
        return not self._listeners

    def close(self) -> None:
        self._child.kill()
        self._reader.join()
        self._child.close()

    def _read(self) -> None:
        problem: TonyError | None = None
        try:
            for line in self._child.lines():
                printed = parsed(line, "")
                if "applicationId" not in printed:
                    raise error_of(printed["error"], printed["exitCode"])
                self._hear(printed["applicationId"], cast(Event, printed))
        except TonyError as error:
            problem = error
        problem = problem or died(self._child.errors(), None)
        with _lock:
            self._problem = problem
            for tells in self._listeners.values():
                for tell in tells:
                    tell(problem)

    def _hear(self, job_id: str, event: Event) -> None:
        with _lock:
            if event["event"] == "status":
                self._status[job_id] = event
            elif event["event"] == "end":
                # A later wait hears of it anew.
                del self._status[job_id]
            for tell in self._listeners.get(job_id, ()):
                tell(event)


def _forked() -> None:
    """The parent's reading threads do not exist in its child, which has waits of its own."""
    global _lock, _followers
    _inherited.append(_followers)
    _lock, _followers = threading.Lock(), {}


def _end() -> None:
    """A process that ends while threads of it wait leaves no program behind."""
    for follower in list(_followers.values()):
        follower.close()


os.register_at_fork(after_in_child=_forked)
atexit.register(_end)
