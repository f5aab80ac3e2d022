"""Who asks an executor waits for a bounded time: here for one that answers when it is let go."""

from __future__ import annotations

import socketserver
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Iterator

import pytest

from tony_ts import TaskError, task_api
from tony_ts.in_task import KeyValues
from tony_ts.task_api import MOST_CONNECTIONS, PATIENCE_S, Executor


class Server(socketserver.ThreadingUnixStreamServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, *_: object) -> None:
        """Who gave up does not take its answer."""


class Slow:
    """An executor that lets all of its calls wait."""

    def __init__(self, path: Path) -> None:
        self.routes: list[str] = []
        self.goes_on = threading.Event()
        slow = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                slow.routes.append(self.path)
                slow.goes_on.wait(60)
                body = b'{"entry":{"key":"k","value":"v","created":1,"modified":1,"version":1}}'
                self.send_response(200)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None: ...

        self._server = Server(str(path), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()

    def holds(self, calls: int) -> None:
        given_up_at = time.monotonic() + 60
        while len(self.routes) < calls:
            assert time.monotonic() < given_up_at, self.routes
            time.sleep(0.01)

    def close(self) -> None:
        self.goes_on.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@pytest.fixture
def slow(tmp_path: Path) -> Iterator[Slow]:
    slow = Slow(tmp_path / "socket")
    yield slow
    slow.close()


@pytest.fixture
def executor(slow: Slow, tmp_path: Path) -> Iterator[Executor]:
    executor = Executor(str(tmp_path / "socket"))
    yield executor
    executor._close()


def test_who_gets_no_connection_in_time_is_told_that_nothing_happened(slow: Slow, executor: Executor) -> None:
    kv = KeyValues(executor, "task/worker:0/")
    with ThreadPoolExecutor(MOST_CONNECTIONS + 1) as pool:
        held = [pool.submit(kv.get, "shared/held") for _ in range(MOST_CONNECTIONS)]
        slow.holds(MOST_CONNECTIONS)
        with pytest.raises(TaskError, match=r"16 calls of this program were not answered in 0\.1 s") as raised:
            executor.ask("GET", "/v1/kv/shared/late", timeout=0.1)
        assert (raised.value.code, raised.value.retryable) == ("BUSY", True)
        late = pool.submit(kv.get, "shared/late")
        time.sleep(0.5)
        slow.goes_on.set()
        assert [one.result() for one in (*held, late)] == [b"v"] * (MOST_CONNECTIONS + 1)
    # A minute in all: the executor is not given what it waited for a connection.
    *first, last = (float(route.rpartition("?timeout=")[2]) for route in slow.routes)
    assert last < PATIENCE_S - 0.1 < min(first)


def test_an_executor_that_does_not_answer_ends_the_wait(
    slow: Slow, executor: Executor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(task_api, "GRACE_S", 0.1)
    with pytest.raises(TaskError, match="The executor does not answer: timed out") as raised:
        executor.ask("GET", "/v1/task", timeout=0.1)
    assert raised.value.code == "NO_EXECUTOR"
