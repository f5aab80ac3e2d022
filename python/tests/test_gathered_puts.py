"""Puts by threads and by futures: what comes during a call goes in the next one, and each has its own answer."""

from __future__ import annotations

import ctypes
import itertools
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Callable, Iterator, Sequence

import pytest

from tony_ts.gathered_puts import (
    MOST_BYTES_TOGETHER,
    MOST_IN_FLIGHT,
    MOST_TOGETHER,
    GatheredPuts,
    LaterPuts,
    Put,
    _Call,
    _Pending,
)
from tony_ts.task_api import PATIENCE_S, TaskError


class Store:
    """Its calls wait until they are let go, where the first one holds them up."""

    def __init__(self) -> None:
        self.calls: list[list[str]] = []
        self.timeouts: list[float] = []
        self.began = threading.Event()
        self.goes_on = threading.Event()
        self.answer: Callable[[Sequence[Put]], None] = lambda _: None

    def write(self, puts: Sequence[Put], timeout: float) -> int:
        self.calls.append([put.key for put in puts])
        self.timeouts.append(timeout)
        if len(self.calls) == 1:
            self.began.set()
            assert self.goes_on.wait(60)
        self.answer(puts)
        return len(self.calls)


class Death(BaseException):
    """Comes to a thread from outside."""


class Crowd:
    """A thread that holds the store up with its put, and others whose puts wait behind it."""

    def __init__(self) -> None:
        self.store = Store()
        self.now = 1_000.0
        self.puts = GatheredPuts(self.store.write, clock=lambda: self.now)
        self.pool = ThreadPoolExecutor(200)
        self.threads: dict[str, int] = {}
        self.first = self.put("first")
        assert self.store.began.wait(60)

    def put(self, key: str, value: str = "") -> Future[int]:
        def put() -> int:
            self.threads[key] = threading.get_ident()
            return self.puts.put(Put(key, value, False))

        return self.pool.submit(put)

    def kill(self, key: str) -> None:
        """Its thread dies of it when it wakes."""
        thread = ctypes.c_ulong(self.threads[key])
        assert ctypes.pythonapi.PyThreadState_SetAsyncExc(thread, ctypes.py_object(Death)) == 1

    def wait(self, *keys: str, value: str = "") -> list[Future[int]]:
        """Puts that have come, one after the other."""
        return [self._waiting(key, value) for key in keys]

    def _waiting(self, key: str, value: str) -> Future[int]:
        before = len(self.puts._waiting)
        future = self.put(key, value)
        while len(self.puts._waiting) == before:
            time.sleep(0.001)
        return future


@pytest.fixture
def crowd() -> Iterator[Crowd]:
    crowd = Crowd()
    yield crowd
    crowd.store.goes_on.set()
    crowd.pool.shutdown()


def outcome(future: Future[int]) -> int | str | None:
    error = future.exception(60)
    return future.result() if error is None else getattr(error, "code", type(error).__name__)


def test_a_put_alone_goes_at_once() -> None:
    store = Store()
    store.goes_on.set()
    puts = GatheredPuts(store.write)
    assert [puts.put(Put(key, "", False)) for key in "ab"] == [1, 2]
    assert store.calls == [["a"], ["b"]]


def test_those_that_come_meanwhile_go_together(crowd: Crowd) -> None:
    waiting = crowd.wait("a", "b", "c")
    crowd.store.goes_on.set()
    assert [outcome(future) for future in (crowd.first, *waiting)] == [1, 2, 2, 2]
    assert crowd.store.calls == [["first"], ["a", "b", "c"]]


def test_a_call_has_each_key_once(crowd: Crowd) -> None:
    waiting = crowd.wait("a", "b", "a", "c", "a")
    crowd.store.goes_on.set()
    assert [outcome(future) for future in waiting] == [2, 2, 3, 2, 4]
    assert crowd.store.calls[1:] == [["a", "b", "c"], ["a"], ["a"]]


def test_a_call_is_bounded(crowd: Crowd) -> None:
    keys = [f"{nth:03}" for nth in range(MOST_TOGETHER + 1)]
    waiting = crowd.wait(*keys)
    large = crowd.wait("x", "y", value="." * (MOST_BYTES_TOGETHER // 2 + 1))
    crowd.store.goes_on.set()
    assert [outcome(future) for future in large] == [3, 4]
    assert {outcome(future) for future in waiting} == {2, 3}
    assert crowd.store.calls[1:] == [keys[:MOST_TOGETHER], [keys[-1], "x"], ["y"]]


@pytest.mark.parametrize("code", ["LIMIT", "FORBIDDEN", "INVALID", "NO_OWNER", "TOO_LONG"])
def test_what_is_refused_fails_alone(crowd: Crowd, code: str) -> None:
    def answer(puts: Sequence[Put]) -> None:
        if any(put.key == "bad" for put in puts):
            raise TaskError(f"bad is refused in a call of {len(puts)}", code=code)

    crowd.store.answer = answer
    good, bad, other = crowd.wait("good", "bad", "other")
    crowd.store.goes_on.set()
    assert isinstance(outcome(good), int)
    assert isinstance(outcome(other), int)
    assert str(bad.exception(60)) == "bad is refused in a call of 1"


def test_a_put_that_waits_behind_a_call_has_a_minute_in_all(crowd: Crowd) -> None:
    waiting = crowd.wait("a", "b")
    crowd.now += 45
    crowd.store.goes_on.set()
    assert [outcome(future) for future in waiting] == [2, 2]
    assert crowd.store.timeouts == [PATIENCE_S, PATIENCE_S - 45]


def test_a_call_without_an_application_master_ends_the_wait_of_those_alone_whose_minute_is_over(crowd: Crowd) -> None:
    def answer(puts: Sequence[Put]) -> None:
        if any(put.key == "old" for put in puts):
            crowd.now += crowd.store.timeouts[-1]
            raise TaskError("nobody is there", code="NO_MASTER", retryable=True)

    crowd.store.answer = answer
    (old,) = crowd.wait("old")
    crowd.now += 45
    (young,) = crowd.wait("young")
    crowd.now += 10
    crowd.store.goes_on.set()
    assert [outcome(old), outcome(young)] == ["NO_MASTER", 3]
    assert crowd.store.calls == [["first"], ["old", "young"], ["young"]]
    assert crowd.store.timeouts == [60, 5, 45]


@pytest.mark.parametrize("code", ["UNKNOWN", "NO_EXECUTOR", "FAILED"])
def test_what_may_have_been_written_is_not_written_again(crowd: Crowd, code: str) -> None:
    def answer(puts: Sequence[Put]) -> None:
        if len(puts) > 1:
            raise TaskError("nobody knows", code=code, retryable=True)

    crowd.store.answer = answer
    waiting = crowd.wait("a", "b")
    crowd.store.goes_on.set()
    errors = [future.exception(60) for future in waiting]
    assert [(getattr(error, "code", ""), getattr(error, "retryable", None)) for error in errors] == [(code, True)] * 2
    assert errors[0] is not errors[1]
    assert crowd.store.calls == [["first"], ["a", "b"]]
    assert outcome(crowd.put("later")) == 3


def test_a_thread_that_is_interrupted_in_its_call_leaves_the_others_without_an_answer(crowd: Crowd) -> None:
    def answer(puts: Sequence[Put]) -> None:
        if len(puts) > 1:
            raise KeyboardInterrupt

    crowd.store.answer = answer
    waiting = crowd.wait("a", "b")
    crowd.store.goes_on.set()
    assert [outcome(future) for future in waiting] == ["KeyboardInterrupt", "UNKNOWN"]
    assert outcome(crowd.put("later")) == 3


def test_a_thread_that_is_interrupted_while_it_waits_writes_nothing(crowd: Crowd) -> None:
    def interrupt() -> None:
        while not crowd.puts._waiting:
            time.sleep(0.001)
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    crowd.pool.submit(interrupt)
    with pytest.raises(KeyboardInterrupt):
        crowd.puts.put(Put("interrupted", "", False))
    waiting = crowd.wait("a", "b")
    crowd.store.goes_on.set()
    assert [outcome(future) for future in waiting] == [2, 2]
    assert crowd.store.calls == [["first"], ["a", "b"]]


def test_a_thread_that_is_interrupted_while_its_put_is_written_leaves_the_others_their_answers(crowd: Crowd) -> None:
    is_interrupted = threading.Event()

    def answer(puts: Sequence[Put]) -> None:
        if len(puts) > 1:
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
            assert is_interrupted.wait(60)

    def wait_behind() -> list[Future[int]]:
        while len(crowd.puts._waiting) < 2:
            time.sleep(0.001)
        behind = crowd.wait("b", "c")
        crowd.store.goes_on.set()
        return behind

    crowd.store.answer = answer
    (before,) = crowd.wait("a")
    behind = crowd.pool.submit(wait_behind)
    with pytest.raises(KeyboardInterrupt):
        crowd.puts.put(Put("interrupted", "", False))
    is_interrupted.set()
    assert [outcome(future) for future in (before, *behind.result(60))] == [2, 2, 2]
    assert crowd.store.calls == [["first"], ["a", "interrupted", "b", "c"]]
    assert outcome(crowd.put("later")) == 3


@pytest.mark.parametrize("nth", [0, 1, 3])
def test_a_thread_that_dies_once_it_is_told_leaves_none_asleep(crowd: Crowd, nth: int) -> None:
    def answer(puts: Sequence[Put]) -> None:
        if len(puts) > 1:
            crowd.kill("abcd"[nth])

    crowd.store.answer = answer
    waiting = crowd.wait("a", "b", "c", "d")
    crowd.store.goes_on.set()
    outcomes = [outcome(future) for future in waiting]
    assert outcomes.pop(nth) == "Death"
    # Where it made the call itself, nobody knows what became of it.
    assert outcomes == (["UNKNOWN"] * 3 if nth == 0 else [2, 2, 2])
    assert outcome(crowd.put("later")) == 3


def test_a_thread_that_dies_when_it_is_to_make_the_next_call_leaves_it_to_another(crowd: Crowd) -> None:
    waiting = crowd.wait("a", "b", "c")
    crowd.kill("a")
    crowd.store.goes_on.set()
    assert [outcome(future) for future in waiting] == ["Death", 2, 2]
    assert crowd.store.calls == [["first"], ["b", "c"]]


def test_threads_wake_each_other_and_one_that_wakes_late_wakes_all() -> None:
    waiting = [_Pending(Put(key, "", False), 0.0) for key in "abcde"]
    call = _Call()
    call.unanswered = dict.fromkeys(waiting)
    woken = []
    for now in (1.0, 1.001, 1.002, 1.1):
        is_all = call.tell(now)
        woken.append((sum(not pending.told.locked() for pending in waiting), is_all))
    assert woken == [(1, False), (2, False), (3, False), (5, True)]


def test_there_is_one_call_at_a_time_also_where_all_wake_at_once() -> None:
    under_way = threading.Lock()

    def write(_: Sequence[Put], __: float) -> int:
        assert under_way.acquire(blocking=False)
        time.sleep(0.001)
        under_way.release()
        return 1

    # Each reading is a second later.
    puts = GatheredPuts(write, clock=map(float, itertools.count()).__next__)
    with ThreadPoolExecutor(8) as pool:
        written = pool.map(lambda nth: puts.put(Put(str(nth), "", False)), range(400))
    assert set(written) == {1}


def test_a_forked_process_waits_for_no_thread_of_its_parent(crowd: Crowd) -> None:
    child = os.fork()
    if child == 0:
        code = 255
        try:
            code = crowd.puts.put(Put("of the child", "", False))
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 2


class Later:
    """A put by a future that holds the store up, so that others wait behind it."""

    def __init__(self) -> None:
        self.store = Store()
        self.now = 1_000.0
        self.puts = LaterPuts(self.store.write, clock=lambda: self.now)
        self.first = self.put("first")
        assert self.store.began.wait(60)

    def put(self, key: str, value: str = "") -> Future[int]:
        return self.puts.put(Put(key, value, False))


@pytest.fixture
def later() -> Iterator[Later]:
    later = Later()
    yield later
    later.store.goes_on.set()


def test_puts_by_futures_go_together_and_never_before_earlier_ones(later: Later) -> None:
    waiting = [later.put(key) for key in "abacd"]
    assert not any(future.done() for future in (later.first, *waiting))
    later.store.goes_on.set()
    assert [outcome(future) for future in (later.first, *waiting)] == [1, 2, 2, 3, 3, 3]
    assert later.store.calls == [["first"], ["a", "b"], ["a", "c", "d"]]


def test_a_put_by_a_future_waits_only_where_as_many_as_may_be_are_not_answered(later: Later) -> None:
    keys = [str(nth) for nth in range(MOST_IN_FLIGHT - 1)]
    waiting = [later.put(key) for key in keys]
    with ThreadPoolExecutor(1) as pool:
        one_more = pool.submit(later.put, "one more")
        time.sleep(0.05)
        assert not one_more.done()
        later.store.goes_on.set()
        assert isinstance(outcome(one_more.result(60)), int)
    assert [outcome(future) for future in waiting] == [2] * MOST_TOGETHER + [3] * (MOST_IN_FLIGHT - 1 - MOST_TOGETHER)


def test_the_callback_of_a_future_may_put_also_where_as_many_as_may_be_are_not_answered(later: Later) -> None:
    put: list[Future[int]] = []
    later.first.add_done_callback(lambda _: put.append(later.put("of the callback")))
    waiting = [later.put(str(nth)) for nth in range(MOST_IN_FLIGHT - 1)]
    later.store.goes_on.set()
    assert {outcome(future) for future in waiting} == {2, 3}
    assert outcome(put[0]) == 3


@pytest.mark.parametrize("code", ["LIMIT", "FORBIDDEN"])
def test_a_put_by_a_future_that_is_refused_fails_alone(later: Later, code: str) -> None:
    def answer(puts: Sequence[Put]) -> None:
        if any(put.key == "bad" for put in puts):
            raise TaskError(f"bad is refused in a call of {len(puts)}", code=code)

    later.store.answer = answer
    good, bad, other = (later.put(key) for key in ("good", "bad", "other"))
    later.store.goes_on.set()
    assert [outcome(good), outcome(bad), outcome(other)] == [3, code, 5]
    assert str(bad.exception(60)) == "bad is refused in a call of 1"


def test_puts_by_futures_whose_minute_is_not_over_go_again_before_others(later: Later) -> None:
    def answer(puts: Sequence[Put]) -> None:
        if puts[0].key == "old":
            later.now += later.store.timeouts[-1]
            raise TaskError("nobody is there", code="NO_MASTER", retryable=True)

    later.store.answer = answer
    old = later.put("old")
    later.now += 45
    young, next_of_its_key = later.put("young"), later.put("young")
    later.now += 10
    later.store.goes_on.set()
    assert [outcome(old), outcome(young), outcome(next_of_its_key)] == ["NO_MASTER", 3, 4]
    assert later.store.calls == [["first"], ["old", "young"], ["young"], ["young"]]
    assert later.store.timeouts[:3] == [60, 5, 45]


def test_puts_by_futures_that_may_have_been_written_are_not_written_again(later: Later) -> None:
    def answer(puts: Sequence[Put]) -> None:
        if len(puts) > 1:
            raise TaskError("nobody knows", code="UNKNOWN", retryable=True)

    later.store.answer = answer
    waiting = [later.put("a"), later.put("b")]
    later.store.goes_on.set()
    told = [future.exception(60) for future in waiting]
    assert [(getattr(error, "code", ""), getattr(error, "retryable", None)) for error in told] == [
        ("UNKNOWN", True)
    ] * 2
    assert told[0] is not told[1]
    assert later.store.calls == [["first"], ["a", "b"]]


def test_what_goes_wrong_otherwise_comes_by_the_futures_too_and_later_puts_go_on(later: Later) -> None:
    def answer(puts: Sequence[Put]) -> None:
        if puts[0].key == "bad":
            raise ValueError

    later.store.answer = answer
    bad = later.put("bad")
    later.store.goes_on.set()
    assert outcome(bad) == "ValueError"
    assert outcome(later.put("later")) == 3


def test_the_thread_of_puts_by_futures_ends_when_none_is_left(later: Later) -> None:
    later.store.goes_on.set()
    assert outcome(later.first) == 1
    while any(thread.name == "tony-ts puts" for thread in threading.enumerate()):
        time.sleep(0.001)
    assert outcome(later.put("next")) == 2


def test_a_program_that_ends_waits_for_its_puts_by_futures() -> None:
    program = """
import time
from tony_ts.gathered_puts import LaterPuts, Put

def write(puts, timeout):
    time.sleep(0.05)
    print(*(put.key for put in puts), flush=True)
    return 1

puts = LaterPuts(write)
for key in "aab":
    puts.put(Put(key, "", False))
"""
    ran = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True, timeout=60)
    assert sorted(ran.stdout.split()) == ["a", "a", "b"]


def test_a_forked_process_has_no_puts_by_futures_of_its_parent(later: Later) -> None:
    later.put("of the parent")
    child = os.fork()
    if child == 0:
        code = 255
        try:
            code = later.put("of the child").result(60)
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 2
