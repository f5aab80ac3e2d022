"""Jobs on this machine, by the real command line."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import tony_ts
from tony_ts import Job, JobFailed, JobKilled, Role, WaitTimeout, waits

FAILS = """
def load(column):
    raise ValueError(f"no such column: {column}")

load("price")
"""


def submit(command: Any = None, **arguments: Any) -> Job:
    return tony_ts.submit(command, scheduler="local", **arguments)


def lines(job: Job, **which: Any) -> list[str]:
    return sorted(str(line) for line in job.logs(**which))


def test_a_command_runs_in_each_task() -> None:
    job = submit("echo hello from $JOB_NAME:$TASK_INDEX", instances=2, memory="512m")
    assert job.wait()["result"] == "succeeded"
    assert job.state == "succeeded"
    assert lines(job) == ["worker:0 | hello from worker:0"]
    assert lines(job, task="worker") == ["worker:0 | hello from worker:0", "worker:1 | hello from worker:1"]
    assert job.url is None
    assert [task["exit"] for task in job.report["tasks"]] == ["0", "0"]


def test_a_failed_job_raises_the_tasks_own_traceback() -> None:
    Path("train.py").write_text(FAILS)
    job = submit(f"{sys.executable} train.py", files=["train.py"], memory="512m")
    with pytest.raises(JobFailed) as raised:
        job.wait()
    error = raised.value
    assert error.traceback.startswith("Traceback (most recent call last):\n  File ")
    assert error.traceback.endswith("ValueError: no such column: price")
    assert 'in load\n    raise ValueError(f"no such column: {column}")' in error.traceback
    assert str(error).startswith(f"{job.id} failed: worker:0 exited 1 on 127.0.0.1: ValueError: no such column: price")
    assert "\nworker:0 on 127.0.0.1:\n  Traceback (most recent call last):\n" in str(error)
    assert (error.id, error.task, error.code, error.retryable) == (job.id, "worker:0", "JOB_FAILED", False)
    assert error.report is not None
    assert error.report["state"] == job.state == "failed"
    assert error.cause is not None
    assert error.cause["reason"]["code"] == "program-exited"
    # It can be sent to another process.
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is JobFailed
    assert str(copy) == str(error)
    assert (copy.code, copy.id, copy.outcome) == ("JOB_FAILED", error.id, error.outcome)


def test_roles_have_their_own_commands_files_and_variables() -> None:
    Path("hello.txt").write_text("hello\n")
    words = [sys.executable, "-c", "import sys; print(sys.argv[1:])", "two words", "it's", "a,b"]
    job = submit(
        roles={
            "worker": Role(
                "cat hello.txt; echo $WHO", instances=2, memory="512m", files=["hello.txt"], env={"WHO": "a,b"}
            ),
            "ps": Role("echo $WHO $ALL", memory="512m", env={"WHO": "ps"}),
            "words": Role(words, memory="512m"),
        },
        env={"ALL": "all of them"},
    )
    job.wait()
    assert lines(job, task="worker:1") == ["worker:1 | a,b", "worker:1 | hello"]
    assert lines(job, task="ps") == ["ps:0 | ps all of them"]
    # Words of a command stay words.
    assert lines(job, task="words") == ["words:0 | ['two words', \"it's\", 'a,b']"]


def test_a_job_file_runs_with_what_is_given_beside_it() -> None:
    Path("job.xml").write_text(
        "<configuration>"
        "<property><name>tony.application.framework</name><value>generic</value></property>"
        "<property><name>tony.worker.instances</name><value>1</value></property>"
        "<property><name>tony.worker.memory</name><value>512m</value></property>"
        "<property><name>tony.worker.command</name><value>echo $TASK_INDEX of $TASK_NUM $WHO</value></property>"
        "</configuration>"
    )
    job = submit(Path("job.xml"), instances=2, env={"WHO": "x"})
    job.wait()
    assert lines(job, task="worker") == ["worker:0 | 0 of 2 x", "worker:1 | 1 of 2 x"]


def test_sources_conf_and_name_reach_the_job(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    before = threading.active_count()
    Path("src").mkdir()
    Path("src/main.py").write_text("print('from src')\n")
    job = submit(
        f"{sys.executable} main.py",
        src_dir="src",
        memory="512m",
        name="by name",
        conf={"tony.application.tags": ["a", "b"]},
    )
    job.wait(timeout=600)
    # Neither the timer nor the file of the command is needed any more.
    assert threading.active_count() == before
    assert list(folder.iterdir()) == []
    assert lines(job) == ["worker:0 | from src"]
    assert job.report["name"] == "by name"


def test_events_and_logs_end_with_the_job_and_can_be_left_early() -> None:
    go = Path("go").absolute()
    job = submit(f"echo begin; while [ ! -e {go} ]; do sleep 0.1; done; echo end", memory="512m")
    with job.events() as events:
        assert next(events)["event"] == "job"
    with job.events() as events, ThreadPoolExecutor(1) as pool:
        logs = job.logs(follow=True)
        assert next(logs).line == "begin"
        told = pool.submit(lambda: [event["event"] for event in events])
        go.touch()
        assert [line.line for line in logs] == ["end"]
        assert told.result()[-1] == "end"
    assert job.wait()["result"] == "succeeded"


def test_a_wait_that_is_over_leaves_the_job_running_and_kill_ends_it() -> None:
    job = submit("sleep 600", memory="512m")
    with pytest.raises(WaitTimeout, match=r"had not ended after 1\.5 s") as raised:
        job.wait(timeout=1.5)
    assert isinstance(raised.value, TimeoutError)
    with pytest.raises(WaitTimeout, match=r"after 3 s \(\w+: worker [01] of 1 run"):
        job.wait(timeout=3, progress=True)
    assert (Job(job.id) == job, {Job(job.id)} == {job}, Job("local_1_0001") == job) == (True, True, False)
    assert job.state not in ("succeeded", "failed", "killed")
    job.kill(reason="enough")
    with pytest.raises(JobKilled, match="enough") as killed:
        Job(job.id).wait()
    assert killed.value.code == "JOB_KILLED"
    job.kill()


def test_many_jobs_at_once_from_threads() -> None:
    with ThreadPoolExecutor(3) as pool:
        jobs = list(pool.map(lambda index: submit(f"echo {index}", memory="256m"), range(3)))
        assert [outcome["result"] for outcome in pool.map(Job.wait, jobs)] == ["succeeded"] * 3
        assert list(pool.map(lines, jobs)) == [[f"worker:0 | {index}"] for index in range(3)]
    assert len({job.id for job in jobs}) == 3


def children() -> list[str]:
    words = ["ps", "-ww", "-o", "args=", "--ppid", str(os.getpid())]
    listed = subprocess.run(words, stdout=subprocess.PIPE, check=True, text=True).stdout
    return [args for args in listed.splitlines() if "tony-ts" in args]


def test_all_that_wait_share_one_process_which_ends_with_the_last(monkeypatch: pytest.MonkeyPatch) -> None:
    long, other, fails = (submit(command, memory="256m") for command in ("sleep 600", "sleep 600", "exit 3"))
    with ThreadPoolExecutor(4) as pool:
        try:
            waiting = [pool.submit(job.wait) for job in (long, long, other)]
            nobody = pool.submit(Job("local_1795305600000_0001").wait)
            with pytest.raises(JobFailed, match="worker:0 exited 3") as raised:
                fails.wait()
            assert raised.value.report is not None
            with pytest.raises(tony_ts.JobNotFound):
                nobody.result()
            with pytest.raises(WaitTimeout):
                long.wait(timeout=0.1)
            [shared] = children()
            assert shared.endswith("wait --stdin --json")
            with monkeypatch.context() as elsewhere:
                # Other variables may mean another cluster.
                elsewhere.setenv("XDG_STATE_HOME", str(Path("elsewhere").absolute()))
                with pytest.raises(tony_ts.JobNotFound):
                    long.wait()
            assert not any(each.done() for each in waiting)
        finally:
            long.kill()
            other.kill()
        for each in waiting:
            with pytest.raises(JobKilled) as killed:
                each.result()
            # Also of who came after it was told.
            assert killed.value.report is not None
    assert children() == []


def test_who_waits_is_told_when_nobody_can_hear_of_the_job_any_more() -> None:
    job = submit("sleep 600", memory="256m")
    with ThreadPoolExecutor(2) as pool:
        waiting = [pool.submit(job.wait) for _ in range(2)]
        given_up_at = time.monotonic() + 60
        while [len(one._listeners.get(job.id, [])) for one in waits._followers.values()] != [2]:
            assert time.monotonic() < given_up_at, "not both wait"
            time.sleep(0.1)
        [shared] = waits._followers.values()
        shared._child.kill()
        for each in waiting:
            with pytest.raises(tony_ts.TonyError, match="ended before its result") as died:
                each.result()
            assert died.value.code == "PROGRAM_ENDED"
    job.kill()


INTERRUPTED = """
import tony_ts
job = tony_ts.submit("sleep 600", memory="512m", scheduler="local")
print(job.id, flush=True)
job.wait()
"""


def test_ctrl_c_at_wait_leaves_the_job_running() -> None:
    script = subprocess.Popen([sys.executable, "-c", INTERRUPTED], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert script.stdout is not None
    job = Job(script.stdout.readline().decode().strip())
    time.sleep(1)
    script.send_signal(signal.SIGINT)
    _, stderr = script.communicate()
    assert stderr.decode().rstrip().endswith("KeyboardInterrupt")
    assert job.state not in ("succeeded", "failed", "killed")
    job.kill()


def test_ctrl_c_at_submit_leaves_nothing() -> None:
    """At whatever moment of the submission it comes."""
    for seconds in (0.2, 0.6, 1.0):
        script = subprocess.Popen([sys.executable, "-c", INTERRUPTED], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        time.sleep(seconds)
        script.send_signal(signal.SIGINT)
        stdout, _ = script.communicate()
        if stdout:
            Job(stdout.decode().strip()).kill()
    words = ["node", os.environ["TONY_TS"], "list", "--scheduler", "local", "--json"]
    assert b'"jobs": []' in subprocess.run(words, stdout=subprocess.PIPE, check=True).stdout


def _wait_in_child(job: Job, answers: Any) -> None:
    answers.put(job.wait()["result"])


def test_a_forked_process_may_use_a_job_but_not_its_parents_events() -> None:
    job = submit("sleep 1", memory="512m")
    context = multiprocessing.get_context("fork")
    answers = context.Queue()
    with job.events() as events:
        child = context.Process(target=_wait_in_child, args=(job, answers))
        child.start()
        assert answers.get(timeout=120) == "succeeded"
        child.join()
        reader = context.Process(target=_read_in_child, args=(events, answers))
        reader.start()
        assert answers.get(timeout=120) == "FORKED"
        reader.join()
        assert [event["event"] for event in events][-1] == "end"


def _read_in_child(events: Any, answers: Any) -> None:
    try:
        next(events)
    except tony_ts.TonyError as error:
        answers.put(error.code)
