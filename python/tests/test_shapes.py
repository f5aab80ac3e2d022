"""The types are those of what the command line prints: docs/reference/json.md."""

from __future__ import annotations

import re
from typing import Any

import pytest
from conftest import ROOT

from tony_ts import shapes

PAGE = (ROOT / "docs" / "reference" / "json.md").read_text(encoding="utf-8")
EVENTS = {"JobEvent": "`job`", "WaitingEvent": "`waiting`", "StatusEvent": "`status`"}
EVENTS.update({"OutputEvent": "`output`", "RemarkEvent": "`remark`", "EndEvent": "`end`"})
#: What json.md writes inside another shape.
WITHIN = {"Service"}
TYPES = [name for name, value in vars(shapes).items() if name[0].isupper() and hasattr(value, "__total__")]


def table(name: str) -> dict[str, bool]:
    """The fields under a heading, and whether each is always there."""
    section = PAGE.split(f"\n### {EVENTS.get(name, name)}\n")[1].split("\n##")[0]
    return {field: mark == "" for field, mark in re.findall(r"^\| `(\w+)(\??)` \|", section, re.MULTILINE)}


@pytest.mark.parametrize("name", sorted(set(TYPES) - WITHIN))
def test_fields_are_those_of_the_page(name: str) -> None:
    shape: Any = getattr(shapes, name)
    assert {field: field in shape.__required_keys__ for field in shape.__annotations__} == table(name)


@pytest.mark.parametrize(
    "name", ["JobState", "TaskState", "TrialState", "FailureClass", "Relation", "ApplicationState"]
)
def test_words_are_those_of_the_page(name: str) -> None:
    row = re.search(rf"^\| {name} \| `(.*)` \|$", PAGE, re.MULTILINE)
    assert row is not None
    assert [word.strip('" ') for word in row[1].split("\\|")] == list(getattr(shapes, name).__args__)
