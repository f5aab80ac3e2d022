"""``tony-ts`` on the command line: the same program, in place of this one."""

from __future__ import annotations

import os
import sys

from .errors import TonyError
from .program import command


def main() -> None:
    """Becomes ``tony-ts`` with the arguments of this process."""
    try:
        words = command()
    except TonyError as error:
        sys.exit(f"tony-ts: {error}")
    os.execv(words[0], [*words, *sys.argv[1:]])


if __name__ == "__main__":
    main()
