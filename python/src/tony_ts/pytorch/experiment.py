"""What a PyTorch experiment is."""

from __future__ import annotations

from typing import Any, Callable, NamedTuple


class DataLoaderArgs(NamedTuple):
    """As in ``torch.utils.data.DataLoader``."""

    batch_size: int | None = 1
    num_workers: int = 0
    pin_memory: bool = False
    #: A smaller last batch in one process would make the others wait for its share.
    drop_last: bool = True
    timeout: float = 0
    prefetch_factor: int = 2
    shuffle: bool = False
    persistent_workers: bool = False
    collate_fn: Callable[[Any], Any] | None = None


class DistributedDataParallelArgs(NamedTuple):
    """As in ``torch.nn.parallel.DistributedDataParallel``."""

    broadcast_buffers: bool = True
    bucket_cap_mb: int = 25
    find_unused_parameters: bool = False
    gradient_as_bucket_view: bool = False


class PytorchExperiment(NamedTuple):
    """What every process trains."""

    #: A ``torch.nn.Module``.
    model: Any
    #: Called with the model, the loader, the device (``cuda:0``, ``cpu``), the rank and a TensorBoard writer.
    main_fn: Callable[[Any, Any, str, int, Any], None]
    #: A ``torch.utils.data.Dataset``: each process gets its share of one, and the whole of an ``IterableDataset``.
    train_dataset: Any
    dataloader_args: DataLoaderArgs
    #: Where the writer's events are stored, in a folder for each rank: a path that all nodes share, or a URL that
    #: fsspec knows.
    tensorboard_hdfs_dir: str | None = None
    ddp_args: DistributedDataParallelArgs | None = None
