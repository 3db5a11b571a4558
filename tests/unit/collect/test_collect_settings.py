"""Settings come from flags or the environment, and wrong ones are refused by name."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from hush.collect.settings import ServerSettings, variable
from hush.errors import ParameterError


def test_every_setting_says_what_it_is_for() -> None:
    for each in fields(ServerSettings):
        assert each.metadata["help"], each.name


def test_every_setting_has_a_variable_of_its_own() -> None:
    given = {
        "HUSH_STORE": "other.db", "HUSH_HOST": "0.0.0.0", "HUSH_PORT": "0", "HUSH_CERTIFICATE": "c.pem",
        "HUSH_CERTIFICATE_KEY": "k.pem", "HUSH_TRUSTED_PROXIES": "10.0.0.1", "HUSH_ORIGINS": "https://a.example",
        "HUSH_BACKUPS": "copies",
    }  # fmt: skip
    switches = [each for each in fields(ServerSettings) if isinstance(each.default, bool)]
    given |= {variable(each.name): "no" if each.default else "yes" for each in switches}
    rest = {variable(each.name): "12345" for each in fields(ServerSettings) if variable(each.name) not in given}
    made = ServerSettings.from_environment({**given, **rest})
    assert made.port == 0
    assert made.certificate == Path("c.pem")
    assert made.access_log is False
    assert made.body_seconds == 12345.0
    changed = [each.name for each in fields(made) if getattr(made, each.name) != each.default]
    assert changed == [each.name for each in fields(made)]


def test_what_is_given_comes_before_the_environment() -> None:
    assert ServerSettings.from_environment({"HUSH_PORT": "1"}, port=2).port == 2
    assert ServerSettings.from_environment({"HUSH_PORT": ""}).port == ServerSettings().port


@pytest.mark.parametrize(
    ("given", "parameter"),
    [
        ({"port": -1}, "port"), ({"port": 65536}, "port"), ({"most_body": 0}, "most_body"),
        ({"body_seconds": float("nan")}, "body_seconds"), ({"header_seconds": float("inf")}, "header_seconds"),
        ({"most_requests": 0}, "most_requests"), ({"address_rate": -1.0}, "address_rate"),
        ({"certificate": Path("c")}, "certificate_key"), ({"certificate_key": Path("k")}, "certificate"),
    ],
)  # fmt: skip
def test_wrong_settings_are_refused_by_name(given: dict[str, Any], parameter: str) -> None:
    with pytest.raises(ParameterError) as caught:
        ServerSettings(**given)
    assert caught.value.parameter == parameter


@pytest.mark.parametrize(("name", "text"), [("HUSH_PORT", "many"), ("HUSH_ACCESS_LOG", "perhaps")])
def test_a_variable_that_cannot_be_read_is_named(name: str, text: str) -> None:
    with pytest.raises(ParameterError) as caught:
        ServerSettings.from_environment({name: text})
    assert caught.value.parameter == name


def test_origins() -> None:
    assert ServerSettings().allowed_origins is None
    assert ServerSettings(origins="").allowed_origins == frozenset()
    assert ServerSettings(origins="https://a.example/, https://b.example").allowed_origins == {
        "https://a.example", "https://b.example",
    }  # fmt: skip
