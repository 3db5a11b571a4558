"""Whatever is no address is refused by name, wherever somebody writes one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hush.collect import Collector
from hush.collect.addresses import beside, parts_of
from hush.collect.relay.upstream import Upstream
from hush.collect.remote import Remote
from hush.errors import ParameterError

MALFORMED = [
    "http://[::1", "https://[::1", "http://127.0.0.1:99999", "https://host:port", "https://host:0", "https://",
    "https://a b", "https://host\n.example", "https://a..b", "https://\u2100.example:1:2", "", "nonsense",
]  # fmt: skip
PATH = f"/v1/collections/{'0' * 32}"
MAKERS: dict[str, Callable[[str], Any]] = {
    "server": lambda url: Remote(url, "hush-admin-0-0"),
    "collector": lambda url: Upstream(url, "hush-relay-0-0"),
}


@pytest.mark.parametrize("url", MALFORMED)
@pytest.mark.parametrize("name", MAKERS)
def test_what_no_request_can_go_to_is_refused(name: str, url: str) -> None:
    with pytest.raises(ParameterError) as told:
        MAKERS[name](url)
    assert told.value.parameter == name
    assert parts_of(url) is None


@pytest.mark.parametrize("url", [*MALFORMED, None, 7])
def test_a_device_refuses_it_too(url: Any, tmp_path: Path) -> None:
    with pytest.raises(ParameterError) as told:
        Collector(f"{url}{PATH}" if isinstance(url, str) else url, home=tmp_path)
    assert told.value.parameter == "url"


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("more", ["/v1", "/v1/", PATH])
def test_a_path_of_the_interface_is_to_be_left_out(name: str, more: str) -> None:
    with pytest.raises(ParameterError) as told:
        MAKERS[name](f"https://collect.example:8470/hush{more}")
    assert told.value.parameter == name
    assert str(told.value.remedy).endswith("https://collect.example:8470/hush")


def test_a_password_in_an_address_is_not_repeated() -> None:
    assert beside("https://me:secret@collect.example/v1") == "https://collect.example"


@pytest.mark.parametrize("url", ["https://collect.example", "https://collect.example:8470/hush", "http://[::1]:8470"])
def test_addresses_are_taken(url: str, tmp_path: Path) -> None:
    for make in MAKERS.values():
        make(url)
    Collector(f"{url}{PATH}", home=tmp_path).close()
