"""A feed's rows, as the datasets of frameworks give them."""

from __future__ import annotations

from typing import Any, Callable, Iterator, Sequence

from .feed import Feed, feed


class FeedRows:
    """Rows of the job's feed of that name, one by one, from the state of a checkpoint on."""

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
        rows = self._feed().rows()
        return rows if self._parse is None else map(self._parse, rows)

    def state_dict(self) -> dict[str, Any]:
        """As ``Feed.state``: all tasks call it the same number of times, each in the process that reads."""
        return self._feed().state()

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """To be called before the first row is asked for."""
        self._state = state

    def _feed(self) -> Feed:
        state, self._state = self._state, None
        return feed(self._name, state, columns=self._columns, views=self._views)
