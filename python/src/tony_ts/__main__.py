"""``tony-ts`` on the command line: replaces this process with the program itself."""

from __future__ import annotations

import os
import sys

from .errors import TonyError
from .program import command


def main() -> None:
    """Replaces this process with ``tony-ts``, with the same arguments."""
    try:
        words = command()
    except TonyError as error:
        sys.exit(f"tony-ts: {error}")
    os.execv(words[0], [*words, *sys.argv[1:]])


if __name__ == "__main__":
    main()
