"""Asks Optuna for the next trials of a search.

Reads one JSON object per line, and answers each question with one. The first line is the search: its space, direction
and seed. A question has the number of the wanted trial, and the trials that are new or have ended since the last
question. An answer depends on these alone: another process that is told of all trials goes on as this one would.
"""

import json
import math
import sys
import warnings
from typing import Any, Dict, List, TextIO, Union

import optuna
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.trial import FrozenTrial, Trial, TrialState, create_trial

STATES = {
    "completed": TrialState.COMPLETE,
    "stopped": TrialState.PRUNED,
    "paused": TrialState.PRUNED,
    "failed": TrialState.FAIL,
    "running": TrialState.RUNNING,
}


def answer_all(questions: TextIO, answers: TextIO) -> None:
    """Answers until there are no more questions."""
    search = json.loads(questions.readline())
    trials: Dict[int, FrozenTrial] = {}
    for line in questions:
        question = json.loads(line)
        for trial in question["trials"]:
            trials[trial["number"]] = told(search, trial)
        params = proposal(search, question["number"], trials)
        answers.write(json.dumps({"number": question["number"], "params": params}) + "\n")
        answers.flush()


def proposal(search: Dict[str, Any], number: int, trials: Dict[int, FrozenTrial]) -> Dict[str, Any]:
    """What Optuna chooses for one trial; running trials count as bad ones (constant liar)."""
    seed = (search["seed"] * 1_000_003 + number) % 2**32
    sampler = optuna.samplers.TPESampler(multivariate=True, constant_liar=True, seed=seed)
    study = optuna.create_study(direction=search["direction"], sampler=sampler)
    study.add_trials([trials[one] for one in sorted(trials)])
    asked = study.ask()
    params: Dict[str, Any] = {}
    for parameter in search["space"]:
        if is_active(parameter, params):
            params[parameter["name"]] = suggested(asked, parameter["name"], parameter["domain"])
    return params


def suggested(asked: Trial, name: str, domain: Dict[str, Any]) -> Any:
    if domain["kind"] == "choice":
        choices: List[Union[str, float]] = domain["choices"]
        return asked.suggest_categorical(name, choices)
    low, high, log, step = domain["low"], domain["high"], domain["log"], domain.get("step")
    if domain["kind"] == "float":
        return asked.suggest_float(name, low, high, log=log, step=step)
    return asked.suggest_int(name, low, high, log=log, step=step or 1)


def told(search: Dict[str, Any], trial: Dict[str, Any]) -> FrozenTrial:
    """A trial as Optuna has it. One that ended early has the last value that it reported."""
    params = trial["params"]
    state = STATES[trial["state"]]
    value = float(trial.get("value", "nan"))
    if state == TrialState.COMPLETE and math.isnan(value):
        state = TrialState.FAIL
    reported = {} if state != TrialState.PRUNED else {int(trial.get("step", 0)): value}
    return create_trial(
        state=state,
        params=params,
        distributions={
            parameter["name"]: distribution_of(parameter["domain"])
            for parameter in search["space"]
            if parameter["name"] in params
        },
        value=value if state == TrialState.COMPLETE else None,
        intermediate_values=reported,
    )


def distribution_of(domain: Dict[str, Any]) -> BaseDistribution:
    if domain["kind"] == "choice":
        return CategoricalDistribution(domain["choices"])
    low, high, log, step = domain["low"], domain["high"], domain["log"], domain.get("step")
    if domain["kind"] == "float":
        return FloatDistribution(low, high, log=log, step=step)
    return IntDistribution(low, high, log=log, step=step or 1)


def is_active(parameter: Dict[str, Any], params: Dict[str, Any]) -> bool:
    """Whether the choice that a parameter depends on has one of its values."""
    when = parameter.get("when")
    if when is None:
        return True
    value = params.get(when["parameter"])
    return value is not None and written(value) in when["values"]


def written(value: Any) -> str:
    """As JavaScript writes it: 1, not 1.0."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    answer_all(sys.stdin, sys.stdout)
