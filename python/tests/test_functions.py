"""Functions as jobs, from programs of their own: where a function is defined decides how it travels."""

from __future__ import annotations

import functools
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any, AsyncIterator, Iterator

import pytest
from conftest import ROOT

import tony_ts
from tony_ts.client import run_on_yarn
from tony_ts.functions import parcel
from tony_ts.topologies import TaskSpec

#: As users write it, and with the Python that runs this test.
START = """
import functools, os, sys, threading
import tony_ts

def submit(function, **arguments):
    arguments.setdefault("memory", "256m")
    arguments.setdefault("env", {"PYTHON": sys.executable})
    return tony_ts.submit(function, scheduler="local", **arguments)
"""


def run(program: str, name: str = "program.py", *, without_cloudpickle: bool = False) -> str:
    start = "import sys; sys.modules['cloudpickle'] = None\n" if without_cloudpickle else ""
    Path(name).write_text(start + START + textwrap.dedent(program))
    done = subprocess.run([sys.executable, "-W", "error", name], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


def test_a_function_of_the_program_runs_in_each_task_with_what_it_uses() -> None:
    Path("shapes.py").write_text("import numbers_of\ndef area(side):\n    return numbers_of.square(side)\n")
    Path("numbers_of.py").write_text("def square(number):\n    return number * number\n")
    Path("inside.py").write_text("from tony_ts import task\ndef name():\n    return task().name\n")
    said = run(
        """
        import inside, shapes

        class Net:
            def forward(self, side):
                return shapes.area(side)

        def train(side, *, unit):
            import importlib.util
            # No module of ours is found in place of another.
            found = [importlib.util.find_spec(name) for name in ("pytorch", "topologies")]
            print("task", os.environ["TASK_INDEX"], Net().forward(side), unit, inside.name(), found)

        job = submit(functools.partial(train, 3, unit="m2"), instances=2)
        job.wait()
        print(*job.logs("worker"), sep="\\n")
        """
    )
    assert sorted(said.splitlines()) == [
        f"worker:{index} | task {index} 9 m2 worker:{index} [None, None]" for index in range(2)
    ]


def test_its_failure_shows_its_own_lines_and_none_of_ours() -> None:
    said = run(
        """
        def load(column):
            raise ValueError(f"no such column: {column}")

        def train():
            load("price")

        try:
            submit(train).wait()
        except tony_ts.JobFailed as error:
            print(error.traceback)
        """
    )
    program = Path("program.py").resolve()
    assert said.splitlines() == [
        "Traceback (most recent call last):",
        f'  File "{program}", line 14, in train',
        '    load("price")',
        f'  File "{program}", line 11, in load',
        '    raise ValueError(f"no such column: {column}")',
        "ValueError: no such column: price",
    ]


def test_where_it_stood_is_said_when_a_signal_ends_it() -> None:
    def train() -> None:
        os.kill(os.getpid(), signal.SIGSEGV)

    Path("function").write_bytes(parcel(train, None).content)
    runner = str(ROOT / "python" / "src" / "tony_ts" / "run_function.py")
    ended = subprocess.run([sys.executable, runner, "function"], capture_output=True, text=True, check=False)
    assert ended.returncode == -signal.SIGSEGV
    assert ended.stderr.startswith("Fatal Python error: Segmentation fault")
    assert " in train\n" in ended.stderr


@pytest.mark.parametrize(
    ("all_do", "said"),
    [
        ("train", ["reader:0 | trained with cuda", "worker:0 | trained with None", "other:0 | read"]),
        ("'echo with $MODULE'", ["reader:0 | with cuda", "worker:0 | with", "other:0 | read"]),
    ],
    ids=["a function", "a command"],
)
def test_a_role_does_what_all_do_after_commands_of_its_own_or_runs_a_function_of_its_own(
    all_do: str, said: list[str]
) -> None:
    program = f"""
        def train():
            print("trained with", os.environ.get("MODULE"))

        def read():
            print("read")

        small = {{"memory": "256m"}}
        roles = {{
            "reader": tony_ts.Role(before="export MODULE=cuda", **small),
            "worker": tony_ts.Role(**small),
            "other": tony_ts.Role(read, **small),
        }}
        job = submit({all_do}, memory=None, roles=roles)
        job.wait()
        print(*job.logs("reader"), *job.logs("worker"), *job.logs("other"), sep="\\n")
        """
    assert run(program).splitlines() == said


def test_what_cannot_travel_is_named_with_the_way_to_it() -> None:
    said = run(
        """
        lock = threading.Lock()

        def count():
            with lock:
                print("counted")

        def train(rows):
            count()

        try:
            submit(functools.partial(train, (row for row in ())))
        except tony_ts.JobInvalid as error:
            print(error.code, error)
        """
    )
    assert said.splitlines() == [
        "FUNCTION_INVALID train() cannot be sent to the tasks, because of what it uses:",
        "  train → count → lock (lock): cannot pickle '_thread.lock' object",
        "  train → argument 1 (generator): cannot pickle 'generator' object",
        "Make it inside the function, where each task then has its own.",
    ]


def test_what_an_object_holds_is_named_by_its_attribute() -> None:
    said = run(
        """
        class Trainer:
            def __init__(self):
                self.rate, self.lock = 0.1, threading.Lock()

            def train(self):
                print(self.rate)

        try:
            submit(Trainer().train)
        except tony_ts.JobInvalid as error:
            print(error)
        """
    )
    assert said.splitlines()[1:2] == ["  train → self.lock (lock): cannot pickle '_thread.lock' object"]


def test_without_cloudpickle_a_function_of_a_module_travels_by_its_name() -> None:
    Path("training.py").write_text("def train(rate):\n    print('rate', rate)\n")
    said = run(
        """
        import training

        job = submit(functools.partial(training.train, 0.1))
        job.wait()
        print(*job.logs(), sep="\\n")
        for function in (lambda: None, submit):
            try:
                submit(function)
            except tony_ts.JobInvalid as error:
                print(error)
        """,
        without_cloudpickle=True,
    )
    mend = "pip install cloudpickle, or move the function into a file of its own and import it"
    where = "is not at the top of a module, where tasks could import it"
    assert said.splitlines() == ["worker:0 | rate 0.1", f"<lambda>() {where}: {mend}", f"submit() {where}: {mend}"]


def test_another_python_on_the_nodes_is_said_before_anything_is_loaded() -> None:
    said = run(
        """
        real, sys.version_info = sys.version_info, (3, 7, 0)

        def train():
            print("trained")

        job = submit(train)
        try:
            job.wait()
        except tony_ts.JobFailed as error:
            print(error.traceback)
        """
    )
    here = ".".join(map(str, sys.version_info[:2]))
    assert said.startswith(f"train() was sent by Python 3.7, and this is Python {here} ({sys.executable} on ")
    assert "ship an environment with python_venv=" in said


def test_a_module_that_the_nodes_lack_is_named_with_the_mend() -> None:
    said = run(
        """
        import types
        installed = types.ModuleType("installed_here")
        exec("def work(): pass", vars(installed))
        sys.modules["installed_here"] = installed

        def train(work):
            work()

        try:
            submit(functools.partial(train, installed.work)).wait()
        except tony_ts.JobFailed as error:
            print(error.traceback)
        """
    )
    assert said.startswith(
        "ModuleNotFoundError: No module named 'installed_here', which train() uses: ship it with files=[…]"
    )


def test_what_a_job_of_this_machine_keeps_is_private_and_goes_after_a_week(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    kept = tmp_path / "cache" / "tony-ts" / "functions"
    run("submit(print).kill()")
    [first] = kept.iterdir()
    assert first.stat().st_mode & 0o077 == 0
    subprocess.run(["touch", "-d", "8 days ago", str(first)], check=True)
    run("submit(functools.partial(print, 'other')).kill()")
    [second] = kept.iterdir()
    assert second != first


async def asynchronous() -> None: ...


def generator() -> Iterator[int]:
    yield 1


async def asynchronous_generator() -> AsyncIterator[int]:
    yield 1


class Model:
    async def __call__(self) -> None: ...

    def steps(self) -> Iterator[int]:
        yield 1


AWAIT = "which nothing would await in a task: submit a function that calls asyncio.run(…)"
READ = "of which nothing would run in a task: submit a function that reads it to its end (for step in …)"


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (asynchronous, f"asynchronous() is async, {AWAIT}"),
        (functools.partial(asynchronous), f"asynchronous() is async, {AWAIT}"),
        (Model(), f"Model() is async, {AWAIT}"),
        (generator, f"generator() is a generator, {READ}"),
        (Model().steps, f"steps() is a generator, {READ}"),
        (asynchronous_generator, f"asynchronous_generator() is a generator, {READ}"),
    ],
)
def test_what_would_be_called_and_never_run_is_refused(function: Any, message: str) -> None:
    for submit in (
        lambda: tony_ts.submit(function, scheduler="local"),
        lambda: tony_ts.submit(roles={"worker": tony_ts.Role(function)}, scheduler="local"),
        lambda: run_on_yarn(function, {"worker": TaskSpec(256, 1)}, scheduler="local"),
    ):
        with pytest.raises(tony_ts.JobInvalid) as raised:
            submit()
        assert (str(raised.value), raised.value.code) == (message, "FUNCTION_INVALID")


def needs(rate: float, *, unit: str, rest: int = 1) -> None: ...


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (needs, "needs() is called without rate and unit, which it needs: functools.partial(needs, rate=…, unit=…)"),
        (
            functools.partial(needs, 0.1),
            "needs() is called without unit, which it needs: functools.partial(needs, unit=…)",
        ),
        (functools.partial(needs, 0.1, 0.2), "needs() cannot be called as it is: too many positional arguments"),  # type: ignore[call-arg, arg-type]
        (lambda *, rate: rate, "<lambda>() is called without rate, which it needs: functools.partial(…, rate=…)"),
    ],
)
def test_a_function_without_the_arguments_that_it_needs_is_refused(function: Any, message: str) -> None:
    with pytest.raises(tony_ts.JobInvalid) as raised:
        tony_ts.submit(function, scheduler="local")
    assert (str(raised.value), raised.value.code) == (message, "FUNCTION_INVALID")


def test_of_tf_yarn_it_is_called_as_its_tasks_call_it() -> None:
    with pytest.raises(tony_ts.JobInvalid, match=r"needs\(\) is called without rate and unit"):
        run_on_yarn(needs, {"worker": TaskSpec(256, 1)}, scheduler="local")
    with pytest.raises(tony_ts.JobInvalid, match=r"^needs\(\) is called without unit, which it needs"):
        run_on_yarn(needs, {"worker": TaskSpec(256, 1)}, custom_task_module="distributed.task", scheduler="local")


def test_a_function_that_returns_what_is_to_be_awaited_fails() -> None:
    said = run(
        """
        async def train():
            print("trained")

        try:
            submit(lambda: train()).wait()
        except tony_ts.JobFailed as error:
            print(error.traceback)
        """
    )
    assert said == "<lambda>() returned a coroutine, which nothing runs: call asyncio.run(…) in it\n"
