"""In a task: one process of a PyTorch experiment."""

from __future__ import annotations

import os
import tempfile
from importlib import import_module
from typing import Any, Callable

from ..experiments import number_the_try
from ..training import init_torch
from . import files
from .experiment import DataLoaderArgs, PytorchExperiment


def train(experiment_fn: Callable[[], PytorchExperiment]) -> None:
    """Sets up torch.distributed by the variables that tony-ts sets, and calls the experiment's main function."""
    number_the_try()
    place = init_torch()
    _train(experiment_fn(), place.rank, place.gpu)


def _train(experiment: object, rank: int, gpu: int | None) -> None:
    parallel: Any = import_module("torch.nn.parallel")
    if not isinstance(experiment, PytorchExperiment):
        raise TypeError(f"experiment_fn returns a PytorchExperiment, not {type(experiment).__name__}")
    device = "cpu" if gpu is None else f"cuda:{gpu}"
    arguments = experiment.ddp_args._asdict() if experiment.ddp_args else {}
    model = parallel.DistributedDataParallel(
        experiment.model.to(device), device_ids=None if gpu is None else [gpu], **arguments
    )
    loader = _loader(experiment.train_dataset, experiment.dataloader_args)
    with tempfile.TemporaryDirectory() as folder:
        writer = _writer(folder, experiment.tensorboard_hdfs_dir)
        try:
            experiment.main_fn(model, loader, device, rank, writer)
        finally:
            # What was written before a failure may show its cause.
            writer.close()
            if experiment.tensorboard_hdfs_dir is not None:
                for name in files.names(folder):
                    place = os.path.join(experiment.tensorboard_hdfs_dir, f"worker{rank}", name)
                    files.put(os.path.join(folder, name), place)


def _loader(dataset: Any, arguments: DataLoaderArgs) -> Any:
    """Each process gets its share, except of a stream, which shares itself out."""
    data: Any = import_module("torch.utils.data")
    given = arguments._asdict()
    shuffle = given.pop("shuffle")
    if not arguments.num_workers:
        # torch refuses these where no process loads ahead.
        for name in ("prefetch_factor", "persistent_workers"):
            given.pop(name)
    if type(dataset).__module__.partition(".")[0] == "webdataset":
        webdataset: Any = import_module("webdataset")
        return webdataset.WebLoader(dataset, shuffle=shuffle, **given)
    if not isinstance(dataset, data.IterableDataset):
        distributed: Any = import_module("torch.utils.data.distributed")
        given["sampler"] = distributed.DistributedSampler(dataset, shuffle=shuffle, drop_last=arguments.drop_last)
    return data.DataLoader(dataset, **given)


class _NoWriter:
    """Takes the calls of a TensorBoard writer where tensorboard is not installed."""

    def __getattr__(self, name: str) -> Callable[..., None]:
        return lambda *_, **__: None


def _writer(folder: str, wanted: str | None) -> Any:
    try:
        tensorboard: Any = import_module("torch.utils.tensorboard")
    except ImportError:
        if wanted is not None:
            raise
        return _NoWriter()
    return tensorboard.SummaryWriter(folder)
