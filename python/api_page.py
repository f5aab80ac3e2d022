"""Writes docs/reference/python.md: what the package gives programs, from its own signatures and docstrings."""

from __future__ import annotations

import inspect
import json
import re
import sys
from pathlib import Path
from typing import Any, Iterator

PYTHON = Path(__file__).resolve().parent
PAGE = PYTHON.parent / "docs" / "reference" / "python.md"

#: Of other classes programs are given what they have.
MADE_BY_PROGRAMS = ("AsyncJob", "Job", "Role")
LONGEST = 100

HEAD = """# Python

What `import tony_ts` gives a program, from the package's own docstrings.
[Jobs from Python](../guide/python.md) shows its use.
"""


def page() -> str:
    """The page's text, in Markdown."""
    import tony_ts

    things = {name: getattr(tony_ts, name) for name in tony_ts.__all__}
    ordered = sorted(things.items(), key=lambda item: (inspect.isclass(item[1]), item[0].lower()))
    return "\n".join([HEAD, *(line for name, thing in ordered for line in _entry(name, thing))])


def write() -> None:
    """Writes it to where it is kept."""
    PAGE.write_text(page(), encoding="utf-8")


def _entry(name: str, thing: Any) -> Iterator[str]:
    yield f"## {name}\n"
    if not inspect.isclass(thing) or hasattr(thing, "_fields") or name in MADE_BY_PROGRAMS:
        yield f"```py\n{_signature(name, thing)}\n```\n"
    yield f"{_text(thing)}\n"
    if inspect.isclass(thing):
        for member, value in vars(thing).items():
            yield from _member(f"{name}.{member}", value)


def _member(name: str, value: Any) -> Iterator[str]:
    called = inspect.isfunction(value)
    if name.split(".")[-1].startswith("_") or not (called or isinstance(value, property)):
        return
    shown = f"```py\n{_signature(name, value)}\n```" if called else "A property."
    yield f"### {name}\n\n{shown}\n\n{_text(value)}\n"


def _signature(name: str, thing: Any) -> str:
    signature = inspect.signature(thing)
    parameters = [one for one in signature.parameters.values() if one.name != "self" and not one.name.startswith("_")]
    returned = "" if inspect.isclass(thing) else f" -> {_type(signature.return_annotation)}"
    shown = list(_marked([one for one in parameters if one.annotation != "NoReturn"]))
    awaited = "async " if inspect.iscoroutinefunction(thing) else ""
    one_line = f"{awaited}{name}({', '.join(shown)}){returned}"
    if len(one_line) <= LONGEST:
        return one_line
    lines = "".join(f"    {parameter},\n" for parameter in shown)
    return f"{awaited}{name}(\n{lines}){returned}"


def _marked(parameters: list[inspect.Parameter]) -> Iterator[str]:
    """With the star before those that are given by name alone."""
    starred = False
    for parameter in parameters:
        if parameter.kind is parameter.KEYWORD_ONLY and not starred:
            starred = True
            yield "*"
        stars = "**" if parameter.kind is parameter.VAR_KEYWORD else ""
        default = "" if parameter.default is parameter.empty else f" = {_value(parameter.default)}"
        yield f"{stars}{parameter.name}: {_type(parameter.annotation)}{default}"


def _type(annotation: Any) -> str:
    return str(getattr(annotation, "__forward_arg__", annotation)).replace("'", '"').strip('"')


def _value(default: Any) -> str:
    """As a program would write it; of what is made for each call three dots."""
    if isinstance(default, str):
        return json.dumps(default)
    return repr(default) if default in (None, (), False, True) else "..."


def _text(thing: Any) -> str:
    """In Markdown: a paragraph on one line, parameters and errors as a list."""
    text = re.sub(r"\n:(param|raises) (\w+):", r"\n\n- `\2`:", "\n" + (inspect.getdoc(thing) or ""))
    paragraphs = [" ".join(one.split()) for one in text.strip().split("\n\n") if one.strip()]
    return "\n\n".join(paragraphs).replace("``", "`").replace("\n\n- ", "\n- ").replace("\n- ", "\n\n- ", 1)


if __name__ == "__main__":
    sys.path.insert(0, str(PYTHON / "src"))
    write()
