"""Settings come from flags or the environment, and wrong ones are refused by name."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from hush.collect.relay.settings import RelaySettings
from hush.collect.settings import ServerSettings
from hush.errors import ParameterError


@pytest.mark.parametrize("of", [ServerSettings, RelaySettings])
def test_every_setting_says_what_it_is_for_and_every_number_is_bounded(of: type[ServerSettings]) -> None:
    for each in fields(of):
        assert each.metadata["help"], each.name
        if isinstance(each.default, (int, float)) and not isinstance(each.default, bool):
            assert each.metadata["least"] <= each.default <= each.metadata["most"], each.name


def test_every_setting_has_a_variable_of_its_own() -> None:
    given = {
        "HUSH_STORE": "other.db", "HUSH_HOST": "0.0.0.0", "HUSH_PORT": "0", "HUSH_CERTIFICATE": "c.pem",
        "HUSH_CERTIFICATE_KEY": "k.pem", "HUSH_TRUSTED_PROXIES": "10.0.0.1", "HUSH_ORIGINS": "https://a.example",
        "HUSH_BACKUPS": "copies",
    }  # fmt: skip
    switches = [each for each in fields(ServerSettings) if isinstance(each.default, bool)]
    given |= {ServerSettings.variable(each.name): "no" if each.default else "yes" for each in switches}
    every = {ServerSettings.variable(each.name): "12345" for each in fields(ServerSettings)}
    rest = {name: text for name, text in every.items() if name not in given}
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
        ({"body_seconds": 86_401.0}, "body_seconds"), ({"port": 1.5}, "port"), ({"most_body": 1 << 41}, "most_body"),
        ({"trusted_proxies": "nonsense,,999.1.1.1"}, "trusted_proxies"),
        ({"trusted_proxies": "localhost"}, "trusted_proxies"), ({"trusted_proxies": "*,::1"}, "trusted_proxies"),
        ({"trusted_proxies": "127.0.0.1, 10.0.0.1/8"}, "trusted_proxies"),
        ({"origins": "example.org"}, "origins"), ({"origins": "https://a.example/path"}, "origins"),
        ({"origins": "https://"}, "origins"), ({"origins": "https://a.example;https://b.example"}, "origins"),
        ({"certificate": Path("c")}, "certificate_key"), ({"certificate_key": Path("k")}, "certificate"),
    ],
)  # fmt: skip
def test_wrong_settings_are_refused_by_name(given: dict[str, Any], parameter: str) -> None:
    with pytest.raises(ParameterError) as caught:
        ServerSettings(**given)
    assert caught.value.parameter == parameter


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf"), -1.0, 1e300])
@pytest.mark.parametrize("setting", [each for each in fields(ServerSettings) if isinstance(each.default, float)])
def test_a_rule_for_numbers_is_true_and_its_remedy_works(setting: Any, value: float) -> None:
    with pytest.raises(ParameterError) as caught:
        ServerSettings(**{setting.name: value})
    bounds = re.fullmatch(r"must be a finite number from (\S+) to (\S+)", caught.value.rule or "")
    assert bounds is not None
    example = (caught.value.remedy or "").removeprefix("use e.g. ")
    for text in (*bounds.groups(), example):
        assert getattr(ServerSettings(**{setting.name: float(text)}), setting.name) == float(text)
        assert ServerSettings.from_environment({ServerSettings.variable(setting.name): text})
    with pytest.raises(ParameterError) as caught:
        ServerSettings.from_environment({ServerSettings.variable(setting.name): str(value)})
    assert caught.value.parameter == setting.name


def test_proxies_and_origins_that_have_an_effect_are_taken() -> None:
    for text in ("", "*", "127.0.0.1", "127.0.0.1, ::1,10.0.0.0/8", "fd00::/8,"):
        assert ServerSettings(trusted_proxies=text).trusted_proxies == text
    named = "https://A.example:443, http://b.example:8080/,capacitor://localhost,null,http://[::1]:80"
    assert ServerSettings(origins=named).allowed_origins == {
        "https://a.example", "http://b.example:8080", "capacitor://localhost", "null", "http://[::1]",
    }  # fmt: skip


@pytest.mark.parametrize(
    "key", ["", "x", "hush-relay-foo", f"hush-ingest-00000000-{'A' * 22}", "hush-relay-00000000-A"]
)
def test_what_is_no_key_of_a_relay_is_refused_and_not_repeated(key: str) -> None:
    asked = {"collector": "https://collect.example", "collections": "0" * 32}
    with pytest.raises(ParameterError) as caught:
        RelaySettings(**asked, key=key)
    assert caught.value.parameter == "key"
    assert not key or key not in str(caught.value).replace("hush-relay-…", "").split()
    assert RelaySettings(**asked, key=f"hush-relay-0123abcd-{'A' * 22}").ids == ("0" * 32,)


@pytest.mark.parametrize(
    ("name", "text"), [("HUSH_PORT", "many"), ("HUSH_PORT", "1.5"), ("HUSH_ACCESS_LOG", "perhaps")]
)
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
