"""The socket on which a task's executor answers its program."""

from __future__ import annotations

import atexit
import http.client
import json
import os
import socket
import threading
from contextlib import closing, suppress
from typing import Any, Dict, Iterator

from .errors import TonyError

Json = Dict[str, Any]


class TaskError(TonyError):
    """The executor refuses: ``code`` says why, as docs/guide/task-api.md has it."""


class NotInATask(TonyError):
    """This program is no task of a job: nothing has told it where to ask."""


class ConditionFailed(TaskError):
    """The key is not as the caller knew it: nothing was changed."""


class Connection(http.client.HTTPConnection):
    def __init__(self, path: str, timeout: float | None) -> None:
        super().__init__("tony", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


class Executor:
    """Asks over one connection, which is made again where it was closed. Threads take turns."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._connection: Connection | None = None
        self._pid = os.getpid()
        atexit.register(self._close)

    def ask_apart(self, method: str, route: str) -> Json:
        """Over a connection of its own: an answer that waits for others keeps no thread from asking."""
        with closing(Connection(self._path, None)) as connection:
            return said(*_answer(connection, method, route, None))

    def ask(self, method: str, route: str, body: bytes | None = None) -> Json:
        with self._lock:
            if self._pid != os.getpid():
                # A forked process would read its parent's answers.
                self._connection, self._pid = None, os.getpid()
            connection = self._connection or Connection(self._path, None)
            self._connection = None
            status, answer = _answer(connection, method, route, body)
            self._connection = connection
        return said(status, answer)

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()

    def lines(self, route: str) -> Lines:
        return Lines(self._path, route)


class Lines(Iterator[Json]):
    """An answer that goes on, line by line. Any thread may close it: who reads comes to its end."""

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
        raise TaskError(f"The executor does not answer: {error}", code="NO_EXECUTOR") from error


def said(status: int, body: bytes) -> Json:
    answer: Json = json.loads(body)
    if status == 200:
        return answer
    error = answer["error"]
    kind = ConditionFailed if error["code"] == "CONDITION" else TaskError
    raise kind(error["message"], code=error["code"], retryable=status == 503)


def api_path() -> str:
    """Where to ask. Raises NotInATask where nothing says."""
    path = os.environ.get("TONY_API")
    if path:
        return path
    message = "TONY_API is not set: this is no program of a task, or its node has no sockets"
    raise NotInATask(message, code="NOT_IN_A_TASK")
