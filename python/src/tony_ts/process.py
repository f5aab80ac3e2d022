"""Runs of the command line: started, read as JSON, ended."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import tempfile
import threading
from types import TracebackType
from typing import IO, Any, ContextManager, Dict, Iterator, Sequence, cast

from .errors import TonyError, error_of
from .program import command
from .shapes import Event

#: The version of the ``--json`` output that this package reads.
JSON_VERSION = 1

#: What a command prints: docs/reference/json.md.
Printed = Dict[str, Any]

#: The most commands that end by themselves to run at once: more would take memory, and time from the others, without
#: finishing sooner.
TURNS = 8
_turns = threading.BoundedSemaphore(TURNS)


def _forked() -> None:
    """A thread that held a turn does not exist in the child."""
    global _turns
    _turns = threading.BoundedSemaphore(TURNS)


os.register_at_fork(after_in_child=_forked)


class Child:
    """
    One run of the command line. It has a session of its own: a Ctrl-C in the terminal is for this process to handle.
    """

    def __init__(self, words: Sequence[str], *, follows: bool = False, given: bytes = b"", asked: bool = False) -> None:
        """
        :param follows: its lines are read as they come
        :param given: its standard input
        :param asked: it is told more while it runs, by ``ask()``
        """
        self.printed = Printing(given)
        try:
            self._process = subprocess.Popen(
                [*command(), *words],
                stdin=subprocess.PIPE if asked else self.printed.input or subprocess.DEVNULL,
                stdout=subprocess.PIPE if follows else self.printed.output,
                stderr=self.printed.errors,
                start_new_session=True,
            )
        except BaseException:
            self.printed.close()
            raise

    def lines(self) -> Iterator[bytes]:
        return iter(self._process.stdout or ())

    def ask(self, line: str) -> None:
        if self._process.stdin is not None:
            self._process.stdin.write(f"{line}\n".encode())
            self._process.stdin.flush()

    def result(self) -> Printed:
        """The single object that it prints. Raises the error that the object contains."""
        return self.printed.result(self._process.wait())

    def errors(self) -> str:
        """What it printed for people."""
        self._process.wait()
        return self.printed.said()

    def interrupt(self) -> None:
        self._process.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """Can be called from any thread: a reader of its lines reaches their end."""
        self._process.kill()

    def close(self) -> None:
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                # Input that it has not read is discarded.
                with contextlib.suppress(OSError):
                    pipe.close()
        self.printed.close()

    def __enter__(self) -> Child:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


class Printing:
    """
    What a child reads and prints, in files: a caller that is interrupted while it waits finds everything afterwards.
    """

    def __init__(self, given: bytes = b"") -> None:
        self.input = _file_of(given) if given else None
        self.output = tempfile.TemporaryFile()  # noqa: SIM115 — closed with the child
        self.errors = tempfile.TemporaryFile()  # noqa: SIM115

    def result(self, exit_code: int) -> Printed:
        self.output.seek(0)
        return result(self.output.read(), self.said(), exit_code)

    def said(self) -> str:
        self.errors.seek(0)
        return self.errors.read().decode(errors="replace").strip()

    def close(self) -> None:
        for file in (self.input, self.output, self.errors):
            if file is not None:
                file.close()


def _file_of(given: bytes) -> IO[bytes]:
    file = tempfile.TemporaryFile()  # noqa: SIM115
    file.write(given)
    file.seek(0)
    return file


def turn() -> ContextManager[bool]:
    return _turns


def run(words: Sequence[str], given: bytes = b"") -> Printed:
    """The result of a command that ends by itself. :param given: its standard input"""
    with turn(), Child(words, given=given) as child:
        return child.result()


def result(output: bytes, errors: str, exit_code: int) -> Printed:
    printed = parsed(output, errors, exit_code)
    if "error" in printed:
        raise error_of(printed["error"], printed["exitCode"])
    return printed


def parsed(line: bytes, errors: str, exit_code: int | None = None) -> Printed:
    """An object that the command line printed."""
    try:
        printed = json.loads(line)
    except ValueError:
        raise died(errors, exit_code) from None
    version = printed.get("jsonVersion")
    if version != JSON_VERSION:
        message = f"This tony-ts prints JSON {version}, and this package reads {JSON_VERSION}: use those of one release"
        raise TonyError(message, code="JSON_VERSION")
    return cast(Printed, printed)


def died(errors: str, exit_code: int | None) -> TonyError:
    """It ended without a result: killed, or not tony-ts at all."""
    ended = "" if exit_code is None else f" with {exit_code}"
    said = "\n".join(errors.splitlines()[-20:]) or "It said nothing."
    return TonyError(f"{' '.join(command())} ended{ended} before its result:\n{said}", code="PROGRAM_ENDED")


class Events(Iterator[Event]):
    """
    The events of a job, the last of which is ``end``. Leaving them does not end the job; ``close()`` them, or use
    ``with``, where you leave them early.
    """

    def __init__(self, words: Sequence[str]) -> None:
        self._process_id = os.getpid()
        self._child = Child(words, follows=True)
        self._lines = self._child.lines()
        self._over = False

    def __iter__(self) -> Events:
        return self

    def __next__(self) -> Event:
        self._refuse_fork()
        if self._over:
            self.close()
            raise StopIteration
        line = next(self._lines, None)
        if line is None:
            errors = self._child.errors()
            self.close()
            raise died(errors, None)
        event = cast(Event, parsed(line, ""))
        if event["event"] == "end":
            self._over = True
            if "error" in event:
                self.close()
                raise error_of(event["error"], event["exitCode"])
        return event

    def kill(self) -> None:
        self._child.kill()

    def close(self) -> None:
        """Ends following; the job goes on."""
        if os.getpid() == self._process_id:
            self._over = True
            self._child.close()

    def _refuse_fork(self) -> None:
        """Two processes that read one pipe would get half of the lines each."""
        if os.getpid() != self._process_id:
            message = (
                "These events belong to the process that this one was forked from: call the job's method again here"
            )
            raise TonyError(message, code="FORKED")

    def __enter__(self) -> Events:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def __del__(self) -> None:
        if hasattr(self, "_child"):
            self.close()
