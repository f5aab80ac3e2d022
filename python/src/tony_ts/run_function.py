"""
What a task runs of a job that was made from a function. It is sent beside the function, and needs only a Python: an old
one must be able to say that it is too old, so nothing here is newer than 3.6.
"""

import faulthandler
import inspect
import json
import linecache
import os
import pickle
import platform
import sys
import traceback
from types import TracebackType
from typing import Any, Callable, Dict, Optional


def main() -> None:
    # The program itself may be a link to where the node keeps it, or to the package's own folder, whose modules have
    # names that others use, too; modules are in the working directory.
    kept = os.path.dirname(os.path.realpath(__file__))
    others = [place for place in sys.path if os.path.realpath(place) != kept]
    sys.path[:] = [os.getcwd(), os.path.join(os.getcwd(), "tony_ts.zip"), *others]
    # When a signal ends the program, the place where it stands is all that it can report.
    faulthandler.enable()
    with open(sys.argv[1], "rb") as file:
        head = json.loads(file.readline().decode())
        content = file.read()
    function = loaded(head, content)
    for name, text in head["sources"].items():
        linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    try:
        returned = function()
    except Exception as error:
        traceback.print_exception(type(error), error, users_own(error.__traceback__))
        sys.exit(1)
    if inspect.iscoroutine(returned):
        returned.close()
        sys.exit(f"{head['name']}() returned a coroutine, which nothing runs: call asyncio.run(…) in it")


def users_own(at: Optional[TracebackType]) -> Optional[TracebackType]:
    """From the first frame outside this package."""
    while at is not None and at.tb_frame.f_code.co_filename.startswith((__file__, os.path.abspath("tony_ts.zip"))):
        at = at.tb_next
    return at


def loaded(head: Dict[str, Any], content: bytes) -> Callable[[], object]:
    sent, here = (".".join(map(str, version[:2])) for version in (head["python"], sys.version_info))
    if head["byValue"] and sent != here:
        sys.exit(
            f"{head['name']}() was sent by Python {sent}, and this is Python {here} "
            f"({sys.executable} on {platform.node()}). A function travels between equal releases only: "
            "ship an environment with python_venv=, or name another Python with "
            f"env={{'PYTHON': '/path/to/python{sent}'}}"
        )
    try:
        function: Callable[[], object] = pickle.loads(content)
    except ImportError as error:
        sys.exit(
            f"{type(error).__name__}: {error}, which {head['name']}() uses: ship it with files=[…] or src_dir=, "
            "or an environment that has it with python_venv="
        )
    return function


if __name__ == "__main__":
    main()
