"""A feed's rows for PyTorch's ``DataLoader``."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Iterator

from ..errors import TonyError
from ..feed_rows import FeedRows

_data: Any = import_module("torch.utils.data")


class FeedDataset(FeedRows, _data.IterableDataset):  # type: ignore[misc]  # pyright: ignore[reportUntypedBaseClass]
    """
    Rows of the job's feed of that name, one by one. ``DataLoader`` reads it in this process, or in one worker.

    :param parse: turns a row, which is bytes, or a dict where the format says so, into what the dataset gives
    :param columns: the wanted columns, as in ``tony_ts.feed``
    :param views: rows that are bytes are given as memoryviews
    """

    def __iter__(self) -> Iterator[Any]:
        worker = _data.get_worker_info()
        if worker is not None and worker.num_workers > 1:
            message = f"one process of a task reads {self._name}: use DataLoader(…, num_workers=0), or 1"
            raise TonyError(message, code="FEED_READ_ELSEWHERE")
        return super().__iter__()
