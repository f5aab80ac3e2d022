"""The feeds of a job: files that are handed out to its tasks, split by split."""

from __future__ import annotations

import http.client
import json
import os
import threading
from collections import deque
from concurrent.futures import Future
from contextlib import closing
from itertools import cycle, islice
from typing import Any, Callable, Generator, Iterable, Iterator, List, Mapping, NamedTuple, Sequence, TypeVar, cast
from urllib.parse import quote, urlencode

from . import avro, parquet
from .errors import TonyError
from .rows import Places, lines_in, places_of_fixed, places_of_lines
from .task_api import Connection, Executor, Json, TaskError, api_path, said
from .tfrecord import places_of_records

#: How many bytes are read from the executor at a time.
_PIECE = 1 << 18
#: Where all tasks make the same number of steps: how many batches, or bytes, are read ahead at most before more steps
#: are agreed on.
_MOST_AHEAD = 256
_MOST_BYTES_AHEAD = 1 << 26
#: How many batches are read in a step, which uses one: enough for more steps to be agreed on in time.
_READ_IN_A_STEP = 2


Given = TypeVar("Given")


class Split(NamedTuple):
    """A part of a file, which only this task has."""

    #: The URL of the file.
    path: str
    #: The first byte, and the one behind the last. In a file of lines it stands for the lines that begin there.
    start: int
    end: int
    #: Counted from 0.
    epoch: int


class _Hand:
    """A split that this process has, and how many of its rows the program has been given."""

    def __init__(self, facts: Json) -> None:
        self.number: int = facts["number"]
        #: The length of its file.
        self.length: int = facts["length"]
        #: How many rows were used before it was given to this process.
        self.skip: int = facts["skip"]
        self.given = self.skip
        self.split = Split(facts["path"], facts["start"], facts["end"], facts["epoch"])
        #: Whether its rows are read here, and so counted.
        self.has_rows = False
        #: Rows of results that have not been sent yet.
        self.results = bytearray()


class Batch(List[Any]):
    """Rows of a feed: bytes, or what the format makes of a row."""

    #: With ``uneven`` = ``pad``: how many rows at the end are repeated from earlier ones, and do not count.
    padding: int = 0


class _Batch:
    def __init__(self) -> None:
        self.rows = Batch()
        self.is_given = False
        #: How many of the rows come from which split.
        self.parts: list[tuple[_Hand, int]] = []
        #: Splits whose last row is in this batch.
        self.whole: list[_Hand] = []

    def add(self, hand: _Hand, rows: list[Any]) -> None:
        self.rows += rows
        self.parts.append((hand, len(rows)))


class _Steps:
    """The steps of an epoch in which all tasks make the same number of steps."""

    def __init__(self, epoch: int) -> None:
        self.epoch = epoch
        self.made = 0
        #: How many steps all tasks may make.
        self.agreed = 0
        self.is_last = False
        #: The pending call for more of them.
        self.asked: Future[Json] | None = None

    @property
    def left(self) -> int:
        return self.agreed - self.made


class _Ahead:
    """Batches that have been read and not yet given to the program."""

    def __init__(self) -> None:
        self._batches: deque[tuple[_Batch, int]] = deque()
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._batches)

    def is_full(self, most: int) -> bool:
        return len(self._batches) >= most or self._bytes >= _MOST_BYTES_AHEAD

    def add(self, batch: _Batch) -> None:
        rows = batch.rows
        are_bytes = rows and isinstance(rows[0], (bytes, memoryview))
        size = sum(map(len if are_bytes else _size, rows))
        self._batches.append((batch, size))
        self._bytes += size

    def next(self) -> _Batch:
        if not self._batches:
            return _Batch()
        batch, size = self._batches.popleft()
        self._bytes -= size
        return batch


def _size(value: Any) -> int:
    """About how many bytes a row takes."""
    if isinstance(value, (bytes, str)):
        return len(value)
    if isinstance(value, dict):
        return sum(_size(one) for one in cast("Mapping[str, Any]", value).values())
    return sum(_size(one) for one in cast("Iterable[Any]", value)) if isinstance(value, list) else 8


class Feed:
    """
    A feed as this task reads it. A row counts as used when the program asks for the next one; rows that it has not used
    when it ends go to other tasks.
    """

    def __init__(self, path: str, name: str, state: Json | None = None) -> None:
        self._path = path
        self._pid = os.getpid()
        #: The loop that reads it.
        self._loop: object = None
        #: Its own connection: a call that waits for splits does not hold up others.
        self._executor = Executor(path)
        self.name = name
        #: The columns of rows of Avro and Parquet; empty: all.
        self.columns: Sequence[str] | None = None
        #: Whether rows that are bytes are given without copying.
        self.views = False
        self._hands: list[_Hand] = []
        #: How often the program has asked for its state.
        self._marks = 0
        opened = self._ask("open", None if state is None else json.dumps({"cursor": state}).encode())
        self.format: str = opened["format"]
        self._record_bytes: int = opened.get("recordBytes", 0)
        self._has_results = "output" in opened
        #: The split whose rows the program was given last.
        self._given: _Hand | None = None
        self._uneven: str | None = opened.get("uneven")
        self._window: int = opened["window"]
        self._steps = _Steps(opened["epoch"])
        #: A checkpoint may have used everything in this epoch that would make a batch.
        self._begun_before = None if state is None else self._steps.epoch
        self._last = Batch()
        self._ended = False

    def state(self) -> Json:
        """
        What all tasks of the role have used of the feed, as JSON, for the checkpoint of what they have learned from it.
        ``tony_ts.feed(name, state)`` goes on from there. What this program was given last counts as used. Returns when
        each of the tasks has called it the same number of times; raises TaskError where one of them runs out of rows
        before.
        """
        begun = [{"number": hand.number, "records": hand.given} for hand in self._hands if hand.given]
        self._marks += 1
        state: Json = self._ask("state", json.dumps({"begun": begun}).encode(), mark=self._marks)["cursor"]
        return state

    def splits(self) -> Iterator[Split]:
        """Splits for a program that reads files by itself, one after the other until there are no more."""
        self._refuse_uneven("splits")
        return self._alone(self._splits())

    def _splits(self) -> Iterator[Split]:
        while True:
            hand = self._next([])
            if hand is None:
                return
            if not hand.given:
                hand.given = 1
                self._given = hand
                yield hand.split
            self._use([hand])

    def rows(self) -> Iterator[Any]:
        """Rows: bytes (or ``views`` of them), for lines without their newlines; dicts for Avro and Parquet."""
        self._refuse_uneven("rows")
        return self._alone(self._rows())

    def _rows(self) -> Iterator[Any]:
        while True:
            hand = self._next([])
            if hand is None:
                return
            for rows in self._read(hand):
                for row in rows:
                    hand.given += 1
                    self._given = hand
                    yield row
            self._use([hand])

    def batches(self, size: int, *, across_splits: bool = True) -> Iterator[Batch]:
        """
        Rows, so many at a time; fewer at the end of an epoch, and where other tasks have all remaining splits of it.
        With ``tony.feed.NAME.uneven`` all tasks get the same number of batches in each epoch. The rows of a batch count
        as used together, when the program asks for the next one.

        :param across_splits: False: a batch comes from one split, so the last batch of each split may be shorter;
            always so where the feed has results
        """
        if size < 1:
            raise ValueError(f"a batch has at least 1 row, not {size}")
        batches = self._batches if self._uneven is None else self._even_batches
        return self._alone(batches(size, across_splits))

    def _alone(self, given: Iterator[Given]) -> Iterator[Given]:
        """Ends a loop that another has replaced, and its copy in another process: rows would be given twice."""
        self._loop = loop = object()
        for one in given:
            yield one
            if os.getpid() != self._pid:
                message = f"process {self._pid} reads the feed {self.name}: have it pass rows to this process"
                raise TonyError(message, code="FEED_OF_ANOTHER_PROCESS")
            if self._loop is not loop:
                message = f"another loop reads the feed {self.name} now: only one can at a time"
                raise TonyError(message, code="FEED_READ_TWICE")

    def _batches(self, size: int, across_splits: bool) -> Iterator[Batch]:
        batch = _Batch()
        while True:
            hand = self._next(batch.whole, wait=not batch.rows)
            if hand is None:
                if not batch.rows:
                    return
                yield from self._give(batch)
                continue
            for filled in self._filled(batch, hand, size):
                batch = filled
                if len(batch.rows) == size:
                    yield from self._give(batch)
            if self._has_results and hand not in self._hands:
                # It could not be read to its end: results of its last rows would have nowhere to go.
                batch = _Batch()
                continue
            batch.whole.append(hand)
            if not batch.rows:
                self._use(batch.whole)
            elif self._has_results or not across_splits:
                yield from self._give(batch)

    def _filled(self, batch: _Batch, hand: _Hand, size: int) -> Iterator[_Batch]:
        """
        The given batch and further ones, filled with the split's rows: each is full except the last, which has room for
        more.
        """
        for rows in self._read(hand):
            start = 0
            while start < len(rows):
                part = rows[start : start + size - len(batch.rows)]
                batch.add(hand, part)
                start += len(part)
                if len(batch.rows) == size:
                    yield batch
                    batch = _Batch()
        yield batch

    def _give(self, batch: _Batch) -> Iterator[Batch]:
        rows = batch.rows
        for hand, count in batch.parts:
            hand.given += count
            self._given = hand
        batch.rows, batch.parts, batch.is_given = Batch(), [], True
        yield rows
        self._use(batch.whole)

    def write(self, rows: Iterable[bytes | memoryview | str]) -> None:
        """
        Adds rows, with a newline behind each, to the results of the split whose rows the program was given last: a file
        of ``tony.feed.NAME.output``, which appears once the split is used.
        """
        if isinstance(rows, (str, bytes, memoryview)):
            raise TypeError("write() takes a list of rows: write one as write([row])")
        lines = b"".join(part for row in rows for part in (row.encode() if isinstance(row, str) else row, b"\n"))
        if not lines:
            return
        hand = self._given
        if hand is None or hand not in self._hands:
            message = f"no row of the feed {self.name} is in use: write results before you ask for the next row"
            raise TonyError(message, code="NO_ROWS")
        hand.results += lines
        if len(hand.results) >= _PIECE:
            self._send_results(hand)

    def _send_results(self, hand: _Hand) -> None:
        for at in range(0, len(hand.results), _PIECE):
            self._ask("write", bytes(hand.results[at : at + _PIECE]), number=hand.number)
        hand.results.clear()

    def _even_batches(self, size: int, across_splits: bool) -> Iterator[Batch]:
        while not self._ended:
            steps = self._steps
            source = self._batches_ahead(size, across_splits)
            ahead = _Ahead()
            while not (steps.is_last and steps.left == 0):
                self._agree(ahead, source)
                if steps.left == 0:
                    continue
                batch = ahead.next()
                if self._uneven == "pad":
                    self._pad(batch, size)
                steps.made += 1
                yield from self._give(batch)
            if self._uneven == "stop-together":
                return
            self._use(list(self._hands))
            self._steps = _Steps(steps.epoch + 1)

    def _agree(self, ahead: _Ahead, source: Iterator[_Batch | None]) -> None:
        """
        Reads ahead, and learns how many steps all tasks may make, according to how far they have read. Each step reads
        a little, and more steps are asked for while some are left: the program waits for the answer only when none is
        left.
        """
        steps, is_dry = self._steps, False
        most = min(_MOST_AHEAD, 1 + 2 * steps.made)
        wanted = most if steps.left == 0 else _READ_IN_A_STEP
        while wanted > 0 and not ahead.is_full(most) and not (steps.is_last and len(ahead) > 0):
            wanted -= 1
            try:
                batch = next(source)
            except StopIteration:
                is_dry = True
                break
            if batch is None:
                break
            ahead.add(batch)
        if steps.is_last:
            return
        if steps.asked is None and (is_dry or len(ahead) >= 2 * steps.left):
            steps.asked = self._asked_for_steps(steps.made + len(ahead), is_dry)
        if steps.asked is not None and (steps.left == 0 or steps.asked.done()):
            asked, steps.asked = steps.asked, None
            self._hear_of_steps(asked.result())

    def _asked_for_steps(self, ready: int, is_dry: bool) -> Future[Json]:
        steps, dry = self._steps, "true" if is_dry else "false"
        route = self._route("steps", epoch=steps.epoch, ready=ready, known=steps.agreed, dry=dry)
        return _apart(lambda: self._executor.ask_apart("POST", route))

    def _hear_of_steps(self, answer: Json) -> None:
        steps = self._steps
        steps.agreed, steps.is_last = answer["steps"], answer["last"]
        if steps.is_last and steps.agreed == 0 and not self._ended and steps.epoch != self._begun_before:
            message = f"a task has no batch of the feed {self.name} in epoch {steps.epoch}, so no task gets one"
            hint = f"make tony.feed.{self.name}.split-size smaller, or set tony.feed.{self.name}.uneven to pad"
            raise TonyError(f"{message}: {hint}", code="FEED_TOO_SMALL")

    def _batches_ahead(self, size: int, across_splits: bool) -> Iterator[_Batch | None]:
        """The remaining rows of the epoch that nobody has used yet; none: some must be used before more is read."""
        batch, before = _Batch(), _Batch()
        before.is_given = True
        read: list[_Hand] = []
        wait = self._steps.made == 0 and not self._hands
        while True:
            hand = self._next(read, wait=wait)
            wait = False
            if hand is None and len(self._hands) < self._window:
                break
            if hand is not None:
                for filled in self._filled(batch, hand, size):
                    batch = filled
                    if len(batch.rows) == size:
                        yield batch
                        before = batch
                read.append(hand)
                if batch.rows:
                    batch.whole.append(hand)
                elif before.is_given:
                    self._use([hand])
                else:
                    before.whole.append(hand)
            if batch.rows and (hand is None or not across_splits):
                yield batch
                batch, before = _Batch(), batch
            elif hand is None:
                yield None
        if batch.rows and self._uneven != "drop":
            yield batch

    def _pad(self, batch: _Batch, size: int) -> None:
        """Padded with the rows that this task was given last; without any earlier rows there is no padding."""
        again = cycle(self._last or list(batch.rows))
        padding = list(islice(again, size - len(batch.rows)))
        self._last = Batch(batch.rows) or self._last
        batch.rows += padding
        batch.rows.padding = len(padding)

    def _refuse_uneven(self, what: str) -> None:
        if self._uneven is not None:
            message = f"tony.feed.{self.name}.uneven works with batches() only, not with {what}()"
            raise TonyError(message, code="FEED_COUNTS_BATCHES")

    def _use(self, hands: list[_Hand]) -> None:
        """Reports all of them as used, except those that could not be read."""
        used = [hand for hand in hands if hand in self._hands]
        hands.clear()
        if not used:
            return
        for hand in used:
            self._send_results(hand)
        told = [{"number": hand.number, "records": hand.given - hand.skip if hand.has_rows else 0} for hand in used]
        self._ask("used", json.dumps({"used": told}).encode())
        self._hands = [hand for hand in self._hands if hand not in used]

    def _next(self, behind: list[_Hand], wait: bool = True) -> _Hand | None:
        """The first split that is not among those. None at the end or, unless it waits, where there is none now."""
        for hand in self._hands:
            if hand not in behind:
                return hand
        if not wait and len(self._hands) >= self._window:
            return None
        taken = self._ask("take", wait="true" if wait else "false")
        self._ended = taken.get("end", False)
        given = [_Hand(one) for one in taken.get("splits", [])]
        self._hands += given
        return given[0] if given else None

    def _read(self, hand: _Hand) -> Iterator[list[Any]]:
        """
        Its rows that the program was not given yet, as they arrive. The executor is told of a split that cannot be
        read.
        """
        skip = hand.given
        hand.has_rows = True
        try:
            for rows in self._rows_of(hand):
                fresh = rows[skip:]
                skip -= len(rows) - len(fresh)
                if fresh:
                    yield fresh
        except TonyError as error:
            if error.code != "FEED_UNREADABLE":
                raise
            self._ask("failed", str(error).encode(), number=hand.number)
            self._hands.remove(hand)

    def _rows_of(self, hand: _Hand) -> Iterator[list[Any]]:
        def read(start: int, end: int | None) -> Generator[bytes, None, None]:
            return self._pieces(hand, {"from": start, **({} if end is None else {"to": end})})

        path, start, end, _ = hand.split
        if self.format == "avro":
            return avro.rows_of(path, start, end, read, self.columns)
        if self.format == "parquet":
            return parquet.rows_of(path, hand.length, range(start, end), read, self.columns)
        return self._rows_in(self._pieces(hand, {}))

    def _rows_in(self, pieces: Iterator[bytes]) -> Iterator[list[Any]]:
        if self.format == "lines" and not self.views:
            yield from lines_in(pieces)
            return
        for data, places in self._places_in(pieces):
            source = memoryview(data) if self.views else data
            yield [source[start:end] for start, end in places]

    def _places_in(self, pieces: Iterator[bytes]) -> Iterator[Places]:
        if self.format == "file":
            data = b"".join(pieces)
            yield data, [(0, len(data))]
        elif self.format == "lines":
            yield from places_of_lines(pieces)
        elif self.format == "tfrecord":
            yield from places_of_records(pieces)
        elif self.format == "fixed":
            yield from places_of_fixed(pieces, self._record_bytes)
        else:
            message = f"the feed {self.name} has the format {self.format}, which has no rows: use splits()"
            raise TonyError(message, code="NO_ROWS")

    def _pieces(self, hand: _Hand, place: Mapping[str, int]) -> Generator[bytes, None, None]:
        """The split's bytes, or those of its file that ``place`` names."""
        route = self._route("read", number=hand.number, **place)
        try:
            with closing(Connection(self._path, None)) as connection:
                response = _opened(connection, route)
                while True:
                    piece = response.read1(_PIECE)
                    if not piece:
                        return
                    yield piece
        except (OSError, http.client.HTTPException) as error:
            # Asked again, the executor says why it broke off.
            with closing(Connection(self._path, None)) as again:
                _opened(again, route)
            raise TaskError(f"The executor does not answer: {error}", code="NO_EXECUTOR") from error

    def _ask(self, verb: str, body: bytes | None = None, **query: str | int) -> Json:
        return self._executor.ask("POST", self._route(verb, **query), body, timeout=None)

    def _route(self, verb: str, **query: str | int) -> str:
        return f"/v1/feed/{quote(self.name, safe='')}/{verb}?{urlencode({'pid': os.getpid(), **query})}"


def _apart(call: Callable[[], Json]) -> Future[Json]:
    """Makes the call in a thread that does not keep the program from ending."""
    answer: Future[Json] = Future()

    def run() -> None:
        try:
            answer.set_result(call())
        except Exception as error:
            answer.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return answer


def _opened(connection: Connection, route: str) -> http.client.HTTPResponse:
    connection.request("GET", route)
    response = connection.getresponse()
    if response.status != 200:
        said(response.status, response.read())
    return response


_FEEDS: dict[tuple[str, int, str], Feed] = {}


def feed(
    name: str, state: Json | None = None, *, columns: Sequence[str] | None = None, views: bool | None = None
) -> Feed:
    """
    The job's feed of that name, ``tony.feed.NAME.input``, for this task. Only one process of a task may read it.
    ``state`` is that of the checkpoint from which the program goes on, the same in all tasks: everything after it is
    read.
    ``columns``: rows of Avro and Parquet have only these; from Parquet no others are read, and ``"a.b"`` is a field of
    a struct.
    ``views``: rows that are bytes are memoryviews of the data that was read, without a copy.
    Raises NotInATask elsewhere, and TaskError where the job has no such feed.
    """
    place = (api_path(), os.getpid(), name)
    if place not in _FEEDS:
        _FEEDS[place] = Feed(place[0], name, state)
    elif state is not None:
        raise TonyError(
            f"the feed {name} is already open: pass its state to the first call of feed()", code="FEED_IS_OPEN"
        )
    if columns is not None:
        _FEEDS[place].columns = list(columns)
    if views is not None:
        _FEEDS[place].views = views
    return _FEEDS[place]
