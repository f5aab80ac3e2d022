"""A real Optuna, asked as an ApplicationMaster asks it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

PROGRAM = Path(__file__).parents[2] / "am" / "search" / "optuna_trials.py"
SEARCH = {
    "direction": "minimize",
    "seed": 7,
    "space": [
        {"name": "lr", "domain": {"kind": "float", "low": 1e-4, "high": 1.0, "log": True}},
        {"name": "layers", "domain": {"kind": "int", "low": 2, "high": 8, "log": False, "step": 2}},
        {"name": "optimizer", "domain": {"kind": "choice", "choices": ["adam", "sgd"]}},
        {
            "name": "momentum",
            "domain": {"kind": "float", "low": 0.0, "high": 0.9, "log": False},
            "when": {"parameter": "optimizer", "values": ["sgd"]},
        },
    ],
}
Json = Any


def answers(*questions: Json) -> list[Json]:
    """Of one process."""
    lines = "".join(json.dumps(question) + "\n" for question in (SEARCH, *questions))
    told = subprocess.run(
        [sys.executable, str(PROGRAM)], input=lines, stdout=subprocess.PIPE, text=True, timeout=120, check=True
    )
    return [json.loads(line) for line in told.stdout.splitlines()]


def trial(number: int, state: str, **more: Json) -> Json:
    params = {"lr": 10 ** -(number % 4), "layers": 2 + 2 * (number % 4), "optimizer": "adam"}
    return {"number": number, "state": state, "params": params, **more}


def many(state: str = "completed") -> list[Json]:
    """As many as there must be before Optuna goes by them: the best ones have a small ``lr``."""
    return [trial(number, state, value=str(0.001 * 10 ** (3 - number % 4)), step=3) for number in range(16)]


def test_what_is_proposed_is_in_the_space_and_has_what_its_choices_ask_for() -> None:
    told = answers(*({"number": number, "trials": []} for number in range(12)))
    assert [answer["number"] for answer in told] == list(range(12))
    for params in (answer["params"] for answer in told):
        assert 1e-4 <= params["lr"] <= 1
        assert params["layers"] in {2, 4, 6, 8}
        assert params["optimizer"] in {"adam", "sgd"}
        assert ("momentum" in params) == (params["optimizer"] == "sgd")
    assert {answer["params"]["optimizer"] for answer in told} == {"adam", "sgd"}


def test_another_process_that_is_told_all_trials_goes_on_as_the_first_would() -> None:
    first, second = many()[:8], many()[8:]
    (_, told) = answers({"number": 8, "trials": first}, {"number": 16, "trials": second})
    assert answers({"number": 16, "trials": many()}) == [told]


def test_trials_that_ended_say_where_the_next_is_and_those_that_run_where_it_is_not() -> None:
    worst = [{**one, "params": {**one["params"], "lr": 1.0, "layers": 8}, "value": "9"} for one in many()[:8]]
    best = [{**one, "params": {**one["params"], "lr": 2e-4, "layers": 2}, "value": "0"} for one in many()[8:]]
    (told,) = answers({"number": 16, "trials": [*worst, *best]})
    assert told["params"]["lr"] < 0.1


def test_trials_without_a_value_are_told_too() -> None:
    ended = [trial(0, "failed"), trial(1, "completed", value="nan"), trial(2, "running"), trial(3, "paused", step=2)]
    stopped = [trial(4, "stopped", value="0.5", step=4), trial(5, "completed", value="-inf", step=4)]
    (told,) = answers({"number": 6, "trials": [*ended, *stopped]})
    assert told["number"] == 6
