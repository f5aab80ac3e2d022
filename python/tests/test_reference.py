"""docs/reference/python.md is made from the package's own docstrings."""

from __future__ import annotations

import re
import runpy

from conftest import ROOT

KEPT = (ROOT / "docs" / "reference" / "python.md").read_text(encoding="utf-8")


def test_it_is_what_the_package_says_of_itself() -> None:
    page: str = runpy.run_path(str(ROOT / "python" / "api_page.py"))["page"]()
    assert page == KEPT, "docs/reference/python.md is stale: python3 python/api_page.py writes it"


def test_it_says_something_of_everything() -> None:
    for entry in re.split(r"^##+ ", KEPT, flags=re.MULTILINE)[1:]:
        said = re.sub(r"```.*?```|^A property\.$", "", entry.split("\n", 1)[1], flags=re.DOTALL | re.MULTILINE)
        assert said.strip(), f"{entry.splitlines()[0]} has no docstring"
