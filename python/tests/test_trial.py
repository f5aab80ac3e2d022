"""A trial of a search reads its parameters."""

from __future__ import annotations

import pytest

import tony_ts


def test_its_parameters_are_numbers_and_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TONY_TRIAL_NUMBER", "7")
    monkeypatch.setenv("TONY_TRIAL_PARAMS", '{"lr":0.0031,"optimizer":"adam","layers":3}')
    trial = tony_ts.trial()
    assert trial.number == 7
    assert trial.params == {"lr": 0.0031, "optimizer": "adam", "layers": 3}


@pytest.mark.parametrize("missing", ["TONY_TRIAL_NUMBER", "TONY_TRIAL_PARAMS"])
def test_elsewhere_there_is_none(monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    monkeypatch.setenv("TONY_TRIAL_NUMBER", "7")
    monkeypatch.setenv("TONY_TRIAL_PARAMS", "{}")
    monkeypatch.delenv(missing)
    with pytest.raises(tony_ts.NotInATask, match=f"{missing} is not set"):
        tony_ts.trial()
