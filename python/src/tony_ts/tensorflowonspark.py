"""
Programs of TensorFlowOnSpark, as tasks of a job. docs/guide/coming-from-tensorflowonspark.md has what to change.

    from tony_ts import tensorflowonspark
    from tony_ts.tensorflowonspark import TFNode

    tensorflowonspark.run(main_fun, args, parse=parse)
"""

from __future__ import annotations

import getpass
import json
import os
import re
from pathlib import Path
from typing import Any, Callable, Iterable, Iterator, Mapping
from xml.etree import ElementTree

from .feed import Feed, feed
from .task_api import NotInATask

#: Turns a row into what the program gets; without it, the program gets the row itself.
Parse = Callable[[bytes], Any]

#: Executors are numbered by their roles' places in this list; other roles follow.
_ROLES = ("ps", "chief", "master", "evaluator", "worker")


def run(map_fun: Callable[[Any, TFNodeContext], Any], tf_args: Any, *, parse: Parse | None = None) -> Any:
    """
    Calls it in this task, with its place among all, and returns its result.

    :param parse: turns a feed's row into what the program gets, as ``rdd.map(parse)`` did
    """
    return map_fun(tf_args, TFNodeContext(parse))


class TFManager:
    """The feeds of this task by the names of TensorFlowOnSpark's queues."""

    def __init__(self, parse: Parse | None) -> None:
        self.parse = parse

    def feed(self, queue: str) -> Feed:
        return feed(queue)


class TFNodeContext:
    """Where this task stands among all."""

    def __init__(self, parse: Parse | None = None) -> None:
        if "CLUSTER_SPEC" not in os.environ:
            message = (
                "CLUSTER_SPEC is not set: run this in a task of a job with tony.application.framework = tensorflow"
            )
            raise NotInATask(message, code="NOT_IN_A_TASK")
        #: The tasks' addresses by role.
        self.cluster_spec: dict[str, list[str]] = json.loads(os.environ["CLUSTER_SPEC"])
        self.job_name = os.environ["JOB_NAME"]
        self.task_index = int(os.environ["TASK_INDEX"])
        before = [role for role in sorted(self.cluster_spec, key=_place) if _place(role) < _place(self.job_name)]
        self.executor_id = sum(len(self.cluster_spec[role]) for role in before) + self.task_index
        #: TensorFlowOnSpark's earlier name for it.
        self.worker_num = self.executor_id
        self.num_workers = sum(len(self.cluster_spec.get(role, ())) for role in ("chief", "master", "worker"))
        self.working_dir = os.getcwd()
        self.mgr = TFManager(parse)

    @property
    def defaultFS(self) -> str:  # noqa: N802
        """
        The cluster's default file system, as its ``core-site.xml`` on this node names it; without one ``file://``.
        """
        for folder in os.environ.get("HADOOP_CONF_DIR", "").split(":"):
            site = Path(folder, "core-site.xml")
            if folder and site.is_file():
                for setting in ElementTree.parse(site).getroot().iter("property"):
                    if setting.findtext("name", "").strip() == "fs.defaultFS":
                        return setting.findtext("value", "").strip().rstrip("/")
        return "file://"

    def absolute_path(self, path: str) -> str:
        return hdfs_path(self, path)

    def get_data_feed(
        self,
        train_mode: bool = True,
        qname_in: str = "input",
        qname_out: str = "output",
        input_mapping: Mapping[str, str] | None = None,
    ) -> DataFeed:
        return DataFeed(self.mgr, train_mode, qname_in, qname_out, input_mapping)

    def release_port(self) -> None:
        """The port that the cluster spec names for this task belongs to its program from the start."""


def _place(role: str) -> tuple[int, str]:
    return (_ROLES.index(role) if role in _ROLES else len(_ROLES), role)


def hdfs_path(ctx: TFNodeContext, path: str) -> str:
    """
    A URL stays; an absolute path is one on the cluster's file system; any other path is below the user's folder there.
    """
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]*://", path):
        return path
    if path.startswith("/"):
        return ctx.defaultFS + path
    home = ctx.working_dir if ctx.defaultFS == "file://" else f"/user/{getpass.getuser()}"
    return f"{ctx.defaultFS}{home}/{path}"


class DataFeed:
    """
    Rows of a feed, as TensorFlowOnSpark's class of that name gives those of an RDD.

    :param mgr: the context's ``mgr``
    :param train_mode: False: a batch comes from one split; always so where the feed has an output
    :param qname_in: the feed's name
    :param input_mapping: the tensors that a row's columns become, as in Spark ML's pipelines
    """

    def __init__(
        self,
        mgr: TFManager,
        train_mode: bool = True,
        qname_in: str = "input",
        qname_out: str = "output",
        input_mapping: Mapping[str, str] | None = None,
    ) -> None:
        self._parse = mgr.parse
        self._feed = mgr.feed(qname_in)
        self._across_splits = train_mode
        self._tensors = None if input_mapping is None else [tensor for _, tensor in sorted(input_mapping.items())]
        self._size = 0
        self._batches: Iterator[list[bytes]] = iter(())
        self._is_over = False

    def next_batch(self, batch_size: int) -> Any:
        """So many rows, or fewer; none at the end. With an input mapping, the values of each tensor."""
        rows = self._next(batch_size)
        if self._tensors is None:
            return rows
        return {tensor: [row[at] for row in rows] for at, tensor in enumerate(self._tensors)}

    def should_stop(self) -> bool:
        """Whether there are no more rows, or ``terminate`` was called."""
        return self._is_over

    def batch_results(self, results: Iterable[Any]) -> None:
        """The results of the last batch, one line each: bytes, or what ``str`` makes of it."""
        self._feed.write(row if isinstance(row, bytes) else str(row) for row in results)

    def terminate(self) -> None:
        """This task reads no more rows."""
        self._is_over = True

    def _next(self, size: int) -> list[Any]:
        if size != self._size:
            # A new iterator goes on where the old one was, but reads the split again up to that place.
            self._size, self._batches = size, self._feed.batches(size, across_splits=self._across_splits)
        rows: list[bytes] = []
        if not self._is_over:
            rows = next(self._batches, rows)
        self._is_over = not rows
        return [self._parse(row) for row in rows] if self._parse else rows


class TFNode:
    """The names that programs import from TensorFlowOnSpark's module ``TFNode``."""

    DataFeed = DataFeed
    hdfs_path = staticmethod(hdfs_path)


__all__ = ["DataFeed", "TFManager", "TFNode", "TFNodeContext", "hdfs_path", "run"]
