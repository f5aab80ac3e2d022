"""Runs an experiment of TensorFlow, or TensorFlow servers for a program here."""

from __future__ import annotations

import contextlib
import time
from importlib import import_module
from typing import Any, Callable, Generator, Literal, Mapping

from .. import client
from ..client import EVERYBODY_SEES
from ..errors import TonyError, told_plainly
from ..metrics import Metrics
from ..skein import ApplicationClient
from ..topologies import TaskSpec, single_server_topology
from . import server

ExperimentFn = Callable[[], Any]

DEFAULT_TASK_SPEC = single_server_topology()


@told_plainly
def run_on_yarn(
    experiment_fn: ExperimentFn, task_specs: dict[str, TaskSpec] = DEFAULT_TASK_SPEC, **kwargs: Any
) -> Metrics | None:
    """As ``tony_ts.client.run_on_yarn``, for a function that returns an ``Experiment`` or a ``KerasExperiment``."""
    kwargs["custom_task_module"] = (
        kwargs.get("custom_task_module") or "tf_yarn.tensorflow.tasks._independent_workers_task"
    )
    return client.run_on_yarn(experiment_fn, task_specs, **kwargs)


@contextlib.contextmanager
def standalone_client_mode(
    pyenv_zip_path: Any = None,
    task_specs: dict[str, TaskSpec] | None = None,
    tf_session_config: object = None,
    *,
    skein_client: object = None,
    files: dict[str, str] | None = None,
    env: Mapping[str, str] = {},
    queue: str = "default",
    acls: Any = EVERYBODY_SEES,
    file_systems: list[str] | None = None,
    name: str = "RunOnYarn",
    pre_script_hook: str | None = None,
    scheduler: Literal["yarn", "local"] = "yarn",
) -> Generator[Any, None, None]:
    """
    TensorFlow servers in the tasks of a job, which work for a program here: ``with`` gives their
    ``tf.train.ClusterSpec``, for ``ParameterServerStrategy`` and ``ClusterCoordinator``. At its end they stop. This
    program is the chief, and a ``chief`` of the topology is left out.

    :raises RunFailed: a server failed
    """
    specs = {role: spec for role, spec in (task_specs or {}).items() if role in ("worker", "ps")}
    job = client.submitted(
        server.serve,
        specs,
        pyenv_zip_path=pyenv_zip_path,
        files=files,
        env=env,
        queue=queue,
        acls=acls,
        file_systems=file_systems,
        name=name,
        pre_script_hook=pre_script_hook,
        scheduler=scheduler,
        without_effect={"skein_client": skein_client, "tf_session_config": tf_session_config},
    )
    keys = ApplicationClient(job.id).kv
    with client.ended_with(job):
        wanted = sum(spec.instances for spec in specs.values())
        addresses: dict[str, bytes] = {}
        while len(addresses) < wanted:
            time.sleep(0.5)
            if job.state in ("succeeded", "failed", "killed"):
                # Raises the reason.
                job.wait()
            with contextlib.suppress(TonyError):
                addresses = keys.get_prefix(server.SERVES)
        tf: Any = import_module("tensorflow")
        yield tf.train.ClusterSpec(_cluster(addresses))
        keys[server.STOP] = b""
        job.wait()


def _cluster(addresses: Mapping[str, bytes]) -> dict[str, dict[int, str]]:
    cluster: dict[str, dict[int, str]] = {}
    for key, address in addresses.items():
        role, _, index = key[len(server.SERVES) :].rpartition(":")
        cluster.setdefault(role, {})[int(index)] = address.decode()
    return cluster
