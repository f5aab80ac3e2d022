"""A feed's rows for TensorFlow's ``tf.data``."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Callable, Sequence

from ..feed_rows import FeedRows

_tf: Any = import_module("tensorflow")


class FeedDataset(FeedRows):
    """
    Rows of the job's feed of that name for ``tf.data``, one by one.

    :param parse: turns a row into what the dataset gives; without it a row is its bytes
    :param output_signature: as for ``tf.data.Dataset.from_generator``; without it that of bytes
    :param columns: the wanted columns, as in ``tony_ts.feed``
    :param views: rows that are bytes are passed to ``parse`` as memoryviews
    """

    def __init__(
        self,
        name: str,
        parse: Callable[[Any], Any] | None = None,
        *,
        output_signature: Any = None,
        columns: Sequence[str] | None = None,
        views: bool | None = None,
    ) -> None:
        super().__init__(name, parse, columns=columns, views=views)
        self._signature = _tf.TensorSpec((), _tf.string) if output_signature is None else output_signature

    def dataset(self) -> Any:
        """
        The ``tf.data.Dataset``. It fetches nothing ahead, unless a ``prefetch`` or a parallel ``map`` behind it does:
        what these have fetched counts as used.
        """
        options = _tf.data.Options()
        options.experimental_optimization.inject_prefetch = False
        return _tf.data.Dataset.from_generator(self.__iter__, output_signature=self._signature).with_options(options)
