"""The socket on which a task's executor answers its program."""

from __future__ import annotations

import atexit
import http.client
import json
import os
import re
import socket
import threading
import time
from contextlib import closing, suppress
from typing import Any, Dict, Iterator

from .errors import TonyError

Json = Dict[str, Any]

#: At once, by one process: the executor has 64 for everything that a program starts (MOST_API_CONNECTIONS).
MOST_CONNECTIONS = 16

#: How many seconds a call waits in all: for a connection, and for its answer.
PATIENCE_S = 60.0
#: The executor itself reports that it could not answer in time: this leaves a moment for that.
GRACE_S = 5.0

_LENGTH = re.compile(rb"\r\ncontent-length: (\d+)")


class TaskError(TonyError):
    """The executor refuses: ``code`` says why, as in docs/guide/task-api.md."""


class NotInATask(TonyError):
    """This program is no task of a job: nothing has told it where to ask."""


class ConditionFailed(TaskError):
    """The key was not as the caller knew it: nothing was changed."""


class BadValue(TaskError, TypeError):
    """A value that a program reports has an unsupported type: the message names it. Nothing was reported."""


class Connection(http.client.HTTPConnection):
    def __init__(self, path: str, timeout: float | None) -> None:
        super().__init__("tony", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


class KeptConnection:
    """One call after the other, each with an answer of a given length: ``http.client`` takes three times as long."""

    def __init__(self, path: str) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.settimeout(GRACE_S)
        self._socket.connect(path)
        #: Whether the executor keeps it open, too.
        self.stays = True

    def ask(self, method: str, route: str, body: bytes | None, timeout: float | None) -> tuple[int, bytes]:
        self._socket.settimeout(timeout)
        content = body or b""
        head = f"{method} {route} HTTP/1.1\r\nhost: tony\r\ncontent-length: {len(content)}\r\n\r\n"
        # A server that refuses a long body does not read it to its end, but has answered.
        with suppress(BrokenPipeError, ConnectionResetError):
            self._socket.sendall(head.encode("ascii") + content)
        received = bytearray(self._part())
        while (end := received.find(b"\r\n\r\n")) < 0:
            received += self._part()
        said_head = bytes(received[:end]).lower()
        length = _LENGTH.search(said_head)
        if length is None:
            raise ConnectionError(f"its answer is {said_head[:40].decode('ascii', 'replace')}")
        self.stays = b"\r\nconnection: close" not in said_head
        whole = end + 4 + int(length[1])
        while len(received) < whole:
            received += self._part()
        return int(said_head[9:12]), bytes(received[end + 4 : whole])

    def close(self) -> None:
        self._socket.close()

    def _part(self) -> bytes:
        part = self._socket.recv(1 << 16)
        if not part:
            raise ConnectionError("it closed the connection")
        return part


class Executor:
    """Asks over persistent connections. Threads ask in parallel, each over a connection of its own."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._begin()
        atexit.register(self._close)

    def _begin(self) -> None:
        self._pid = os.getpid()
        self._idle: list[KeptConnection] = []
        self._turns = threading.Semaphore(MOST_CONNECTIONS)

    def ask_apart(self, method: str, route: str) -> Json:
        """Over a separate connection: an answer that waits for other tasks does not keep threads from asking."""
        with closing(Connection(self._path, None)) as connection:
            return said(*_answer(connection, method, route, None))

    def ask(self, method: str, route: str, body: bytes | None = None, *, timeout: float | None = PATIENCE_S) -> Json:
        """:param timeout: in seconds, for a connection and the answer together; None: no limit"""
        if self._pid != os.getpid():
            # A forked process would read its parent's answers.
            self._begin()
        turns, over_at = self._turns, time.monotonic() + (timeout or 0)
        if not turns.acquire(timeout=timeout):
            message = f"{MOST_CONNECTIONS} calls of this program were not answered in {timeout:g} s: try again"
            raise TaskError(message, code="BUSY", retryable=True)
        try:
            left = None if timeout is None else over_at - time.monotonic()
            status, answer = self._asked(method, route, body, left)
        finally:
            turns.release()
        return said(status, answer)

    def _asked(self, method: str, route: str, body: bytes | None, left: float | None) -> tuple[int, bytes]:
        if left is not None:
            route += f"{'&' if '?' in route else '?'}timeout={seconds(left)}"
        try:
            connection = self._taken()
            try:
                answer = connection.ask(method, route, body, None if left is None else max(left, 0) + GRACE_S)
            except BaseException:
                # A late answer would be taken for another call's.
                connection.close()
                raise
        except OSError as error:
            raise _silent(error) from error
        if connection.stays:
            self._idle.append(connection)
        else:
            connection.close()
        return answer

    def _taken(self) -> KeptConnection:
        try:
            return self._idle.pop()
        except IndexError:
            return KeptConnection(self._path)

    def _close(self) -> None:
        for connection in self._idle:
            connection.close()

    def lines(self, route: str) -> Lines:
        return Lines(self._path, route)


class Lines(Iterator[Json]):
    """An answer that goes on, line by line. Any thread may close it: its reader then reaches the end."""

    def __init__(self, path: str, route: str) -> None:
        self._connection = Connection(path, None)
        try:
            self._connection.request("GET", route)
            self._response = self._connection.getresponse()
            if self._response.status != 200:
                said(self._response.status, self._response.read())
        except BaseException:
            self._connection.close()
            raise

    def __next__(self) -> Json:
        line = self._response.readline()
        if not line:
            self._connection.close()
            raise StopIteration
        found: Json = json.loads(line)
        return found

    def close(self) -> None:
        with suppress(OSError):
            self._connection.sock.shutdown(socket.SHUT_RDWR)

    def __del__(self) -> None:
        if hasattr(self, "_response"):
            self._response.close()
        self._connection.close()


def _answer(connection: Connection, method: str, route: str, body: bytes | None) -> tuple[int, bytes]:
    try:
        connection.request(method, route, body)
        response = connection.getresponse()
        return response.status, response.read()
    except (OSError, http.client.HTTPException) as error:
        connection.close()
        raise _silent(error) from error


def _silent(error: Exception) -> TaskError:
    return TaskError(f"The executor does not answer: {error}", code="NO_EXECUTOR")


def said(status: int, body: bytes) -> Json:
    answer: Json = json.loads(body)
    if status == 200:
        return answer
    error = answer["error"]
    kind = ConditionFailed if error["code"] == "CONDITION" else TaskError
    raise kind(error["message"], code=error["code"], retryable=status == 503)


def seconds(timeout: float) -> str:
    """As the executor reads them: no exponent, down to a millisecond."""
    return f"{max(timeout, 0.001):.3f}"


def api_path() -> str:
    """Where to ask. Raises NotInATask where nothing says."""
    path = os.environ.get("TONY_API")
    if path:
        return path
    message = "TONY_API is not set: this is no program of a task, or its node has no sockets"
    raise NotInATask(message, code="NOT_IN_A_TASK")
