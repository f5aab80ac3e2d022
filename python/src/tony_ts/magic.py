"""``%%tony``: a notebook's cell as a job."""

from __future__ import annotations

import argparse
import shlex
from typing import Any, Callable, NoReturn, Protocol

from .display import again
from .errors import JobInvalid
from .functions import PACKAGE, PYTHON, keep, package_zip
from .job import Job
from .submission import submit

#: The cell's file name in the tasks, which tracebacks show.
CELL = "cell.py"


class Shell(Protocol):
    """The part of IPython's shell that is needed."""

    user_ns: dict[str, Any]

    def register_magic_function(self, func: Callable[[str, str], None], magic_kind: str, magic_name: str) -> None: ...


def load_ipython_extension(ipython: Shell) -> None:
    """``%load_ext tony_ts`` calls it."""

    def tony(line: str, cell: str) -> None:
        """
        Runs the cell as a program in every task of a job, and shows what becomes of it.

            %%tony --instances 2 --memory 2g --framework pytorch -o job

        Its arguments are those of tony_ts.submit(): --instances, --memory, --vcores, --gpus, --framework, --src_dir,
        --python_venv, --name, --queue, --resume_from, --scheduler; as often as you like --files FILE,
        --env NAME=VALUE, --secrets NAME=SOURCE, --conf KEY=VALUE. -o NAME keeps the job in that variable, --detach
        does not wait for it. Interrupting the cell leaves the job running.
        """
        words = vars(_parser().parse_args(shlex.split(line)))
        output, detach = words.pop("output"), words.pop("detach")
        job = _submitted(cell, words)
        if output is not None:
            ipython.user_ns[output] = job
        if detach:
            print(again(job.id))
            return
        try:
            job.wait(progress=True)
        except KeyboardInterrupt:
            raise Interrupted(f"{again(job.id)} goes on") from None

    ipython.register_magic_function(tony, "cell", "tony")


class Interrupted(KeyboardInterrupt):
    """Stops the cells that would run after an interrupted one. The display says how to come back to the job."""

    def _render_traceback_(self) -> list[str]:
        return [f"KeyboardInterrupt: {self}"]


# The name under which notebooks know an interrupt; some then show no traceback.
Interrupted.__name__ = KeyboardInterrupt.__name__


def _submitted(cell: str, arguments: dict[str, Any]) -> Job:
    # The magic's own line is the first of the cell: line numbers in tracebacks then match the notebook's.
    files = [*arguments.pop("files"), keep(CELL, f"\n{cell}".encode())]
    python = PYTHON if arguments["python_venv"] is None else "venv/bin/python"
    if "tony_ts" in cell:
        files.append(keep(PACKAGE, package_zip()))
        python = f'PYTHONPATH="$PWD/{PACKAGE}${{PYTHONPATH:+:$PYTHONPATH}}" {python}'
    return submit(f"{python} {CELL}", files=files, **arguments)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise JobInvalid(f"%%tony: {message}. %%tony? says what there is", code="USAGE")


class _Pair(argparse.Action):
    """Collects ``NAME=VALUE`` into a dictionary."""

    def __call__(self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, *_: object) -> None:
        name, equals, value = str(values).partition("=")
        if not equals:
            parser.error(f"argument {self.option_strings[0]}: {values!r} is not NAME=VALUE")
        setattr(namespace, self.dest, {**getattr(namespace, self.dest), name: value})


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="%%tony", add_help=False, allow_abbrev=False)
    parser.add_argument("-o", "--output")
    parser.add_argument("--detach", action="store_true")
    for name in ("instances", "vcores", "gpus"):
        parser.add_argument(f"--{name}", type=int)
    for name in ("memory", "framework", "src_dir", "python_venv", "name", "queue", "resume_from"):
        parser.add_argument(f"--{name}")
    parser.add_argument("--scheduler", choices=("yarn", "local"), default="yarn")
    parser.add_argument("--files", action="append", default=[])
    for name in ("env", "secrets", "conf"):
        parser.add_argument(f"--{name}", action=_Pair, default={})
    return parser
