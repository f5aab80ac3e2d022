"""tf-yarn's call: its signatures, its names, and what becomes of each argument."""

from __future__ import annotations

import functools
import inspect
import json
import re
import subprocess
import sys
import textwrap
import threading
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import tony_ts.client
import tony_ts.distributed
import tony_ts.pytorch
from tony_ts import Job, JobInvalid, Role
from tony_ts.client import ACLs, RunFailed, get_safe_experiment_fn, run_on_yarn
from tony_ts.metrics import metrics
from tony_ts.topologies import ContainerKey, NodeLabel, TaskSpec, ps_strategy_topology, single_server_topology

#: Of tf-yarn 0.7.0: name, and default where there is one. It gives ``acls`` those of Skein by which everybody sees.
RUN_ON_YARN: dict[str, Any] = {
    "experiment_fn": inspect.Parameter.empty,
    "task_specs": inspect.Parameter.empty,
    "pyenv_zip_path": None,
    "skein_client": None,
    "files": None,
    "env": {},
    "queue": "default",
    "acls": ACLs(enable=True, ui_users=("*",), view_users=("*",)),
    "file_systems": None,
    "eval_monitor_log_thresholds": None,
    "nb_retries": 0,
    "custom_task_module": None,
    "name": "RunOnYarn",
    "pre_script_hook": None,
    "cuda_runtime_hdfs_path": None,
}
TASK_SPEC: dict[str, Any] = {
    "memory": inspect.Parameter.empty,
    "vcores": inspect.Parameter.empty,
    "instances": 1,
    "nb_proc_per_worker": 1,
    "label": NodeLabel.CPU,
    "tb_termination_timeout_seconds": -1,
    "tb_model_dir": None,
    "tb_extra_args": None,
}


def signature(function: Any) -> dict[str, Any]:
    return {name: parameter.default for name, parameter in inspect.signature(function).parameters.items()}


def test_the_signatures_are_tf_yarns() -> None:
    assert signature(run_on_yarn) == {**RUN_ON_YARN, "scheduler": "yarn"}
    assert signature(TaskSpec) == TASK_SPEC
    assert signature(single_server_topology) == {"memory": 48 * 1024, "vcores": 48}
    assert signature(ps_strategy_topology) == {"nb_workers": 2, "nb_ps": 1, "memory": 48 * 1024, "vcores": 48}
    positional = [name for name, p in inspect.signature(run_on_yarn).parameters.items() if p.kind is not p.KEYWORD_ONLY]
    assert positional == ["experiment_fn", "task_specs"]


class Submitted:
    """Takes what would be submitted."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.arguments: dict[str, Any] = {}
        monkeypatch.setattr(tony_ts.client, "submit", self._submit)
        monkeypatch.setattr(tony_ts.client, "_metrics_at_end", lambda job: job)

    def _submit(self, **arguments: Any) -> Job:
        self.arguments = arguments
        return Job("application_1795305600000_0001")

    def role(self, name: str) -> Role:
        role = self.arguments["roles"][name]
        assert isinstance(role, Role)
        return role


@pytest.fixture
def submitted(monkeypatch: pytest.MonkeyPatch) -> Submitted:
    return Submitted(monkeypatch)


def train() -> Any:
    print("trained")


def keep(_: object) -> None:
    """Is given what cannot travel."""


def test_each_argument_becomes_part_of_a_job(submitted: Submitted) -> None:
    run_on_yarn(
        train,
        {
            "chief": TaskSpec("2 GiB", 4),
            "worker": TaskSpec(1024, 4, instances=3, nb_proc_per_worker=2, label=NodeLabel.GPU),
            "tensorboard": TaskSpec(
                512, 1, tb_model_dir="hdfs:///models/a", tb_extra_args="--purge_orphaned_data=true"
            ),
        },
        pyenv_zip_path={NodeLabel.CPU: "hdfs:///envs/cpu.pex", NodeLabel.GPU: "hdfs:///envs/gpu.zip"},
        files={"conf.json": "/home/alice/conf.json"},
        env={"RATE": "0.1"},
        queue="ml",
        acls=ACLs(view_users=["bob"], ui_users=["carol"], modify_users=["dave"]),
        file_systems=["hdfs://other"],
        nb_retries=2,
        name="Nightly",
        pre_script_hook="module load cuda",
        cuda_runtime_hdfs_path="hdfs:///cuda.tar.gz",
    )
    asked = submitted.arguments
    assert asked["conf"] == {
        "tony.worker.node-label": "gpu",
        "tony.worker.processes": 2,
        "tony.application.sidecar.jobtypes": "tensorboard",
        "tony.application.acl.view": "bob,carol",
        "tony.application.acl.modify": "dave",
        "tony.am.retry-count": 2,
        "tony.other.namenodes": ["hdfs://other"],
    }
    assert asked["files"] == ["/home/alice/conf.json::conf.json", "hdfs:///cuda.tar.gz::cuda#archive"]
    assert (asked["queue"], asked["name"], asked["env"]) == ("ml", "Nightly", {"RATE": "0.1"})
    assert list(asked["roles"]) == ["chief", "worker", "tensorboard"]
    board = submitted.role("tensorboard")
    assert (board.memory, board.vcores, board.python_venv) == (512, 1, "hdfs:///envs/cpu.pex")
    assert getattr(board.command, "args", None) == ("hdfs:///models/a", "--purge_orphaned_data=true")
    worker = submitted.role("worker")
    assert (worker.instances, worker.memory, worker.vcores) == (3, 1024, 4)
    assert (worker.python_venv, worker.before) == ("hdfs:///envs/gpu.zip", "module load cuda")
    assert submitted.role("chief").python_venv == "hdfs:///envs/cpu.pex"


def test_everybody_sees_a_job_by_default_as_with_tf_yarn(submitted: Submitted) -> None:
    run_on_yarn(train, {"worker": TaskSpec(256, 1)})
    assert submitted.arguments["conf"]["tony.application.acl.view"] == "*"
    run_on_yarn(train, {"worker": TaskSpec(256, 1)}, acls=None)
    assert "tony.application.acl.view" not in submitted.arguments["conf"]


def test_tasks_log_to_the_run_of_mlflow_that_the_program_has_begun(
    submitted: Submitted, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = SimpleNamespace(info=SimpleNamespace(run_id="r1"))
    mlflow = SimpleNamespace(
        active_run=lambda: run, is_tracking_uri_set=lambda: True, get_tracking_uri=lambda: "http://mlflow.example:5000"
    )
    monkeypatch.setitem(sys.modules, "mlflow", mlflow)
    run_on_yarn(train, {"worker": TaskSpec(256, 1)}, env={"RATE": "0.1"})
    told = {"MLFLOW_RUN_ID": "r1", "MLFLOW_TRACKING_URI": "http://mlflow.example:5000"}
    assert submitted.arguments["env"] == {**told, "RATE": "0.1"}
    mlflow.active_run = lambda: None
    run_on_yarn(train, {"worker": TaskSpec(256, 1)})
    assert submitted.arguments["env"] == {}


def test_the_virtual_environment_of_the_program_goes_along_with_its_editable_packages(
    submitted: Submitted, monkeypatch: pytest.MonkeyPatch
) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", "venv"], check=True)
    release = ".".join(map(str, sys.version_info[:2]))
    about = Path(f"venv/lib/python{release}/site-packages/shapes-1.0.dist-info")
    about.mkdir()
    project = Path("project").absolute()
    (project / "shapes").mkdir(parents=True)
    (project / "shapes" / "__init__.py").write_text("")
    note = {"url": project.as_uri(), "dir_info": {"editable": True}}
    (about / "direct_url.json").write_text(json.dumps(note))
    (about / "RECORD").write_text("shapes.pth,,\n")
    (about.parent / "shapes.pth").write_text(f"{project}\n")
    monkeypatch.setattr(sys, "prefix", str(Path("venv").absolute()))
    run_on_yarn(train, {"worker": TaskSpec(256, 1)}, env={"PYTHONPATH": "mine", "RATE": "0.1"})
    assert submitted.role("worker").python_venv == tony_ts.Environment(sys.prefix, (str(project / "shapes"),), release)
    # The packages are found beside what the caller's own PYTHONPATH names.
    assert submitted.role("worker").env == {"PYTHONPATH": "mine"}
    monkeypatch.setattr(sys, "prefix", sys.base_prefix)
    run_on_yarn(train, {"worker": TaskSpec(256, 1)})
    assert submitted.role("worker").python_venv is None


def test_memory_is_read_as_skein_reads_it() -> None:
    amounts: dict[int | str, int] = {1024: 1024, "1024": 1024, "2 GiB": 2048, "1 gb": 954, "1.5gib": 1536, "1 kib": 1}
    assert {given: TaskSpec(given, 1).memory for given in amounts} == amounts
    spec = TaskSpec(1, 1)
    spec.memory = "1 gib"
    assert spec.memory == 1024
    with pytest.raises(JobInvalid, match="'much'"):
        TaskSpec("much", 1)


def test_everything_wrong_with_a_topology_is_said_at_once() -> None:
    wrong = {
        "master": TaskSpec(256, 1),
        "chief": TaskSpec(256, 1, instances=2),
        "worker": TaskSpec(256, 2, nb_proc_per_worker=4),
        "ps": TaskSpec(256, 1, instances=0),
    }
    with pytest.raises(JobInvalid) as raised:
        run_on_yarn(train, wrong)
    assert str(raised.value).splitlines() == [
        "task_specs: there is no task type 'master': use chief, worker, ps, evaluator, tensorboard",
        "task_specs: there can be one chief only, of one process",
        "task_specs: ps needs at least one instance",
        "task_specs: worker: 4 processes need as many vcores, and it has 2",
    ]
    with pytest.raises(JobInvalid, match="nb_retries must be 0 or more"):
        run_on_yarn(train, {"worker": TaskSpec(256, 1)}, nb_retries=-1)
    with pytest.raises(JobInvalid, match=r"gloo_allred_task': Horovod's tasks are started by submit\(framework="):
        run_on_yarn(train, {"worker": TaskSpec(256, 1)}, custom_task_module="tf_yarn.tensorflow.tasks.gloo_allred_task")
    with pytest.raises(JobInvalid, match=r"custom_task_module='tf_yarn\.tasks': there is no such module here"):
        run_on_yarn(train, {"worker": TaskSpec(256, 1)}, custom_task_module="tf_yarn.tasks")
    with pytest.raises(JobInvalid, match="a job needs tasks beside a tensorboard"):
        run_on_yarn(train, {"tensorboard": TaskSpec(256, 1)}, custom_task_module="my.module")
    with pytest.raises(JobInvalid, match=r"pyenv_zip_path has no environment for NodeLabel\.GPU"):
        run_on_yarn(train, {"worker": TaskSpec(256, 1, label=NodeLabel.GPU)}, pyenv_zip_path={NodeLabel.CPU: "a.pex"})


def test_the_topologies_have_tf_yarns_tasks() -> None:
    assert set(single_server_topology()) == {"chief", "evaluator", "tensorboard"}
    many = ps_strategy_topology(nb_workers=3, nb_ps=2, memory=1024, vcores=2)
    assert {kind: spec.instances for kind, spec in many.items()} == {
        "chief": 1,
        "evaluator": 1,
        "worker": 3,
        "ps": 2,
        "tensorboard": 1,
    }


def test_what_has_no_effect_is_said(submitted: Submitted, caplog: pytest.LogCaptureFixture) -> None:
    thresholds = {"awake_time_ratio": (0.0, 1.0)}
    board = TaskSpec(256, 1, tb_termination_timeout_seconds=30)
    specs = {"worker": TaskSpec(256, 1), "tensorboard": board}
    run_on_yarn(train, specs, skein_client=object(), eval_monitor_log_thresholds=thresholds)
    assert [record.message for record in caplog.records] == [
        "run_on_yarn(skein_client=…) has no effect",
        "run_on_yarn(eval_monitor_log_thresholds=…) has no effect",
        "TaskSpec(tb_termination_timeout_seconds=…) has no effect: a TensorBoard ends with its job",
        "No TensorBoard runs: TaskSpec(tb_model_dir=…) says what it shows",
    ]
    assert list(submitted.arguments["roles"]) == ["worker"]


def test_an_environment_without_tensorboard_is_said_before_anything_is_sent(
    submitted: Submitted, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    specs = {"worker": TaskSpec(256, 1), "tensorboard": TaskSpec(256, 1, tb_model_dir="models")}
    (tmp_path / "bin").mkdir()
    python = tmp_path / "bin" / "python"
    for status, said in ((0, []), (1, [f"No TensorBoard runs: {tmp_path} has no tensorboard. Install it there"])):
        python.write_text(f"#!/bin/sh\nexit {status}\n")
        python.chmod(0o755)
        run_on_yarn(train, specs, pyenv_zip_path=str(tmp_path))
        assert [record.message.partition(" (")[0] for record in caplog.records] == said
    assert list(submitted.arguments["roles"]) == ["worker", "tensorboard"]


def test_a_module_of_the_users_own_runs_in_place_of_the_function(
    submitted: Submitted, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("own").mkdir()
    Path("own/__init__.py").write_text("raise AssertionError('nobody imports it here')")
    Path("own/task.py").write_text("")
    monkeypatch.syspath_prepend(".")
    specs = {"evaluator": TaskSpec(256, 1), "worker": TaskSpec(256, 2, instances=2, nb_proc_per_worker=2)}
    run_on_yarn(train, specs, custom_task_module="own.task")
    assert submitted.arguments["files"] == [str(Path("own").resolve())]
    # The module starts the processes, as it does with tf-yarn.
    assert "tony.worker.processes" not in submitted.arguments["conf"]
    runs = submitted.role("worker").command
    assert getattr(runs, "args", None) == ("own.task", train, "worker", [("worker", 2, 2)])
    run_on_yarn(train, specs, custom_task_module="own.task", files={"own": "/elsewhere/own"})
    assert submitted.arguments["files"] == ["/elsewhere/own::own"]
    # Neither installed modules nor ones that are in the environment alone are sent.
    for module in ("json.tool", "only.there"):
        run_on_yarn(train, specs, custom_task_module=module)
        assert submitted.arguments["files"] == []


def test_durations_are_those_of_the_programs() -> None:
    report: Any = {
        "tasks": [
            {"task": "worker:0", "state": "succeeded", "startedAtMs": 1000, "endedAtMs": 4000},
            {"task": "worker:1", "state": "succeeded", "startedAtMs": 2000, "endedAtMs": 6000},
            {"task": "evaluator:0", "state": "failed", "startedAtMs": 2000, "endedAtMs": 3000},
        ]
    }
    measured = metrics(report)
    assert measured.total_training_duration == timedelta(seconds=5)
    assert measured.total_eval_duration is None
    assert measured.container_duration[ContainerKey("evaluator", 0)] == timedelta(seconds=1)
    assert measured.train_eval_time_per_node == {
        ContainerKey("worker", 0): timedelta(seconds=3),
        ContainerKey("worker", 1): timedelta(seconds=4),
        ContainerKey("evaluator", 0): None,
    }


DISTRIBUTED = """
import os, sys
import tony_ts
from tony_ts.distributed.client import run_on_yarn
from tony_ts.distributed.task import get_task
from tony_ts.topologies import TaskSpec

def train(local_rank):
    task = get_task(local_rank)
    print(local_rank, task.task_type, task.task_id, task.world_size, task.n_workers_per_executor)
    with open(os.path.join(os.environ["SEEN"], str(task.task_id)), "w") as seen:
        seen.write(f"{local_rank} {task.world_size} {task.n_workers_per_executor} {os.environ['TF_YARN_N_TRY']}")
    if os.environ.get("FAILS"):
        raise ValueError("no such column: price")

def run(**environment):
    specs = {"worker": TaskSpec("256 MiB", vcores=2, instances=2, nb_proc_per_worker=2)}
    env = {"PYTHON": sys.executable, "SEEN": os.getcwd(), **environment}
    return run_on_yarn(train, specs, env=env, pyenv_zip_path=None, scheduler="local")
"""


def program(text: str) -> str:
    Path("program.py").write_text(DISTRIBUTED + "sys.prefix = sys.base_prefix\n" + textwrap.dedent(text))
    done = subprocess.run([sys.executable, "-W", "error", "program.py"], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


def test_a_distributed_function_knows_its_place() -> None:
    said = program("print(*run().container_duration)")
    assert said == "ContainerKey(type='worker', id=0) ContainerKey(type='worker', id=1)\n"
    seen = {rank: Path(rank).read_text() for rank in ("0", "1", "2", "3")}
    assert seen == {"0": "0 4 2 0", "1": "1 4 2 0", "2": "0 4 2 0", "3": "1 4 2 0"}


def test_the_evaluator_of_a_distributed_function_is_a_group_of_its_own() -> None:
    program(
        """
        def alone(local_rank):
            task = get_task(local_rank)
            seen = [local_rank, *task[:3], *(os.environ[name] for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK"))]
            if task.task_type == "evaluator":
                import socket
                with socket.socket() as listener:
                    listener.bind((task.master_address, task.master_port))
            with open(os.path.join(os.environ["SEEN"], f"{task.task_type}-{task.task_id}"), "w") as file:
                print(*seen, file=file, end="")

        specs = {"worker": TaskSpec(256, 1, instances=2), "evaluator": TaskSpec(256, 1)}
        run_on_yarn(alone, specs, env={"PYTHON": sys.executable, "SEEN": os.getcwd()}, scheduler="local")
        """
    )
    assert Path("evaluator-0").read_text() == "0 evaluator 0 1 0 1 0"
    assert Path("worker-0").read_text() == "0 worker 0 2 0 2 0"
    assert Path("worker-1").read_text() == "0 worker 1 2 1 2 1"


def test_tasks_that_have_no_rank_are_refused_where_all_need_one() -> None:
    specs = {"worker": TaskSpec(256, 1), "ps": TaskSpec(256, 1)}
    with pytest.raises(JobInvalid, match=r"^task_specs: ps: it would have no rank"):
        tony_ts.distributed.run_on_yarn(train, specs)
    with pytest.raises(JobInvalid) as raised:
        tony_ts.pytorch.run_on_yarn(train, {**specs, "evaluator": TaskSpec(256, 1)})
    assert [line.partition(":")[2].partition(":")[0] for line in str(raised.value).splitlines()] == [
        " ps",
        " evaluator",
    ]
    assert "a PytorchExperiment has nothing that evaluates: do it in main_fn, or by tony_ts.distributed" in str(
        raised.value
    )


def test_messages_name_the_arguments_of_run_on_yarn() -> None:
    said = program(
        """
        def told(specs, **arguments):
            try:
                tony_ts.client.run_on_yarn(fails, specs, env={"PYTHON": sys.executable}, scheduler="local", **arguments)
            except tony_ts.TonyError as error:
                print(str(error).splitlines()[0].partition(": ")[2])

        def fails():
            raise ValueError("no such column: price")

        told({"worker": TaskSpec(256, 1)}, files={"x": "/nope"})
        told({"chief": TaskSpec(10**7, 1)})
        told({"worker": TaskSpec(256, 1)}, nb_retries=1)
        """
    )
    files, memory, retries = said.splitlines()
    assert files == "files names what cannot be used: /nope does not exist"
    assert re.fullmatch(r"a chief asks for .*: lower TaskSpec\(memory=…\) of chief", memory)
    assert retries.endswith("ValueError: no such column: price; program restarts: 1 of 1 used (nb_retries = 1)")


def test_what_becomes_of_a_job_is_logged() -> None:
    said = program(
        """
        import logging
        logging.basicConfig(level="INFO", stream=sys.stdout, format="%(message)s")

        def fails_first():
            if os.environ["TF_YARN_N_TRY"] == "0":
                raise ValueError("no such column: price")

        specs = {"worker": TaskSpec(256, 1)}
        tony_ts.client.run_on_yarn(
            fails_first, specs, nb_retries=1, env={"PYTHON": sys.executable}, scheduler="local"
        )
        """
    )
    told = [line.partition(" ")[2] for line in said.splitlines() if line.startswith("local_")]
    assert told[0] == "is submitted"
    [again] = [line for line in told if line.startswith("starts again after generation 1: ")]
    assert re.match(
        r"starts again after generation 1: worker:0 exited 1 on \S+: ValueError: no such column: price", again
    )
    assert any(re.match(r"running: worker \d of 1 run", line) for line in told)
    assert told[-1].startswith("succeeded: ")


def test_an_interrupt_ends_the_job_and_says_so(caplog: pytest.LogCaptureFixture) -> None:
    ended: list[str] = []
    job: Any = SimpleNamespace(id="application_1795305600000_0001", url=None, kill=ended.append)
    with pytest.raises(KeyboardInterrupt), tony_ts.client.ended_with(job):
        raise KeyboardInterrupt
    assert ended == ["run_on_yarn() was interrupted"]
    assert [record.message for record in caplog.records if record.levelname == "WARNING"] == [
        "application_1795305600000_0001 was ended, because run_on_yarn() was interrupted"
    ]


def test_a_failure_is_raised_with_the_functions_own_traceback() -> None:
    said = program(
        """
        try:
            run(FAILS="1")
        except tony_ts.client.RunFailed as error:
            print(error.application_id in str(error), error.report["state"])
            print(error.traceback)
        """
    )
    first, *traceback = said.splitlines()
    assert first == "True failed"
    assert traceback[0] == "Traceback (most recent call last):"
    assert traceback[1].endswith('/program.py", line 14, in train')
    assert traceback[-1] == "ValueError: no such column: price"
    assert len(traceback) == 4


MODULE = """
import json, os, pickle, sys
from tony_ts import skein
from tony_ts._task_commons import (
    _compute_world_size, _get_cluster_tasks, _get_experiment, _get_nb_workers, catchtime, choose_master, compute_rank,
    get_pickled_experiment, get_task_key, is_chief, is_evaluator, is_worker, n_try, setup_logging,
)

def main():
    setup_logging()
    client = skein.ApplicationClient.from_current()
    tasks = _get_cluster_tasks(client)
    with catchtime():
        told = json.loads(client.kv.wait("cluster_instances"))
    host, port = choose_master(client, 0)
    seen = {
        "container": os.environ["SKEIN_CONTAINER_ID"],
        "tasks": [one.to_kv_str() for one in tasks],
        "told": told,
        "experiments": [
            _get_experiment(client), pickle.loads(client.kv.wait("experiment_fn"))(),
            pickle.loads(get_pickled_experiment(client))(),
        ],
        "place": [_compute_world_size(tasks), _get_nb_workers(0, tasks), compute_rank(1, 0, 2), host, port > 0],
        "kind": [is_chief(), is_evaluator(), is_worker(), n_try()],
    }
    with open(os.path.join(os.environ["SEEN"], get_task_key().to_kv_str()), "w") as file:
        json.dump(seen, file)

if __name__ == "__main__":
    main()
"""


def test_a_module_finds_what_tf_yarns_modules_ask_for() -> None:
    Path("module.py").write_text(MODULE)
    said = program(
        """
        rate = 0.1

        def experiment():
            return {"rate": rate}

        specs = {
            "worker": TaskSpec(256, 2, nb_proc_per_worker=2),
            "evaluator": TaskSpec(256, 1),
            "tensorboard": TaskSpec(256, 1, tb_model_dir=os.getcwd()),
        }
        tony_ts.client.run_on_yarn(
            experiment, specs, env={"PYTHON": sys.executable, "SEEN": os.getcwd()}, scheduler="local",
            custom_task_module="module",
        )
        """
    )
    for role in ("worker", "evaluator"):
        assert json.loads(Path(f"{role}:0").read_text()) == {
            "container": f"{role}_0",
            "tasks": ["worker:0:2"],
            "told": [["worker", 1, 2]],
            "experiments": [{"rate": 0.1}] * 3,
            "place": [2, 2, 2, "127.0.0.1", True],
            "kind": [False, role == "evaluator", role == "worker", 0],
        }
    assert said == ""


@pytest.mark.parametrize("module", [None, "tf_yarn.distributed.task", "tf_yarn.pytorch.tasks.worker", "own"])
def test_what_cannot_travel_is_told_of_the_callers_own_function(module: str | None) -> None:
    lock = threading.Lock()
    with pytest.raises(JobInvalid) as raised:
        run_on_yarn(lambda *_: lock, {"worker": TaskSpec(256, 1)}, custom_task_module=module, scheduler="local")
    assert str(raised.value).splitlines()[:2] == [
        "<lambda>() cannot be sent to the tasks, because of what it uses:",
        "  <lambda> → lock (lock): cannot pickle '_thread.lock' object",
    ]


def test_a_function_without_a_place_needs_cloudpickle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cloudpickle", None)
    told = "pip install cloudpickle, or move the function into a file of its own"
    specs = {"worker": TaskSpec(256, 1)}
    with pytest.raises(JobInvalid, match=rf"^<lambda>\(\) is not at the top of a module.*: {told}"):
        run_on_yarn(lambda: 1, specs, scheduler="local")
    with pytest.raises(JobInvalid, match=rf"(?s)^keep\(\) cannot be sent.*keep → argument 1 \(function\).*: {told}"):
        run_on_yarn(functools.partial(keep, lambda: 1), specs, scheduler="local")


def test_a_safe_function_travels_as_its_name_alone() -> None:
    safe = get_safe_experiment_fn("math.pow", 2, 3)
    assert safe() == 8
    assert issubclass(RunFailed, Exception)
