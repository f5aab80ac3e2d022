"""Runs of the command line in an event loop: the counterpart of process.py."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import weakref
from types import TracebackType
from typing import AsyncIterator, Sequence, cast

from .errors import TonyError, error_of
from .process import TURNS, Printed, Printing, died, parsed
from .program import command
from .shapes import Event

#: A line about a job with thousands of tasks takes some megabytes.
_LONGEST_LINE = 1 << 28

_turns: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = weakref.WeakKeyDictionary()


class AsyncChild:
    """One run of the command line, in a session of its own. It starts when the context is entered."""

    def __init__(self, words: Sequence[str], *, follows: bool = False) -> None:
        self._words = words
        self._follows = follows

    async def __aenter__(self) -> AsyncChild:
        # Finding Node runs a process.
        words = await asyncio.get_running_loop().run_in_executor(None, command)
        self._printed = Printing()
        try:
            self._process = await asyncio.create_subprocess_exec(
                *words,
                *self._words,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE if self._follows else self._printed.output,
                stderr=self._printed.errors,
                start_new_session=True,
                limit=_LONGEST_LINE,
            )
        except BaseException:
            self._printed.close()
            raise
        return self

    async def line(self) -> bytes:
        """One line; empty at the end."""
        assert self._process.stdout is not None
        return await self._process.stdout.readline()

    async def result(self) -> Printed:
        """The single object that it prints. Raises the error that the object contains."""
        return self._printed.result(await self._process.wait())

    async def errors(self) -> str:
        """What it printed for people."""
        await self._process.wait()
        return self._printed.said()

    def interrupt(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            self._process.send_signal(signal.SIGTERM)

    async def close(self) -> None:
        if self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()
        if self._process.stdout is not None:
            # Unread output would keep its pipe open.
            await self._process.stdout.read()
        await self._process.wait()
        self._printed.close()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self.close()


def async_turn() -> asyncio.Semaphore:
    """The turns of this loop: as many commands at once as threads may have."""
    loop = asyncio.get_running_loop()
    if loop not in _turns:
        _turns[loop] = asyncio.Semaphore(TURNS)
    return _turns[loop]


async def arun(words: Sequence[str]) -> Printed:
    """The result of a command that ends by itself."""
    async with async_turn(), AsyncChild(words) as child:
        return await child.result()


class AsyncEvents(AsyncIterator[Event]):
    """
    The events of a job, the last of which is ``end``. Leaving them does not end the job; use ``async with`` where you
    leave them early.
    """

    def __init__(self, words: Sequence[str]) -> None:
        self._child = AsyncChild(words, follows=True)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._over = False

    def __aiter__(self) -> AsyncEvents:
        return self

    async def __anext__(self) -> Event:
        if self._over:
            raise StopAsyncIteration
        await self._begun()
        line = await self._child.line()
        if line == b"":
            errors = await self._child.errors()
            await self.aclose()
            raise died(errors, None)
        event = cast(Event, parsed(line, ""))
        if event["event"] == "end":
            await self.aclose()
            if "error" in event:
                raise error_of(event["error"], event["exitCode"])
        return event

    async def _begun(self) -> None:
        loop = asyncio.get_running_loop()
        if self._loop is None:
            await self._child.__aenter__()
            self._loop = loop
        elif self._loop is not loop:
            message = "These events belong to another event loop: call the job's method again in this one"
            raise TonyError(message, code="EVENT_LOOP")

    async def aclose(self) -> None:
        """Ends following; the job goes on."""
        if self._loop is not None and not self._over:
            await self._child.close()
        self._over = True

    async def __aenter__(self) -> AsyncEvents:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self.aclose()
