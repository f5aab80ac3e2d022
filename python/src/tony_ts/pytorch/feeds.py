"""A feed's rows for PyTorch's ``DataLoader``."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Callable, Iterator, Sequence

from ..errors import TonyError
from ..feed import Feed, feed

_data: Any = import_module("torch.utils.data")


class FeedDataset(_data.IterableDataset):  # type: ignore[misc]  # pyright: ignore[reportUntypedBaseClass]
    """
    Rows of the job's feed of that name, one by one. ``DataLoader`` reads it in this process, or in one worker.

    :param parse: makes of a row, which is bytes, or a dict where the format says so, what the dataset gives
    :param columns: those that are wanted, as ``tony_ts.feed`` has them
    :param views: rows that are bytes come as memoryviews
    """

    def __init__(
        self,
        name: str,
        parse: Callable[[Any], Any] | None = None,
        *,
        columns: Sequence[str] | None = None,
        views: bool | None = None,
    ) -> None:
        self._name = name
        self._columns, self._views = columns, views
        self._parse = parse
        self._state: dict[str, Any] | None = None

    def __iter__(self) -> Iterator[Any]:
        worker = _data.get_worker_info()
        if worker is not None and worker.num_workers > 1:
            message = f"one process of a task reads {self._name}: use DataLoader(…, num_workers=0), or 1"
            raise TonyError(message, code="FEED_READ_ELSEWHERE")
        rows = self._feed().rows()
        return rows if self._parse is None else map(self._parse, rows)

    def state_dict(self) -> dict[str, Any]:
        """As ``Feed.state``: all tasks call it as often. Only where no worker reads."""
        return self._feed().state()

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Before the first row is asked for."""
        self._state = state

    def _feed(self) -> Feed:
        state, self._state = self._state, None
        return feed(self._name, state, columns=self._columns, views=self._views)
