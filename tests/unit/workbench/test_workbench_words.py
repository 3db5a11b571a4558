"""What the workbench says: settings that break a rule, numbers that are none, faults, and how far a job is."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from hush.errors import ParameterError, message
from hush.workbench.settings import WorkbenchSettings

nicegui = pytest.importorskip("nicegui")

from hush.workbench import faults  # noqa: E402
from hush.workbench.controls.errors import AlreadySaid  # noqa: E402
from hush.workbench.controls.fields import number_in  # noqa: E402
from hush.workbench.controls.job import in_words  # noqa: E402
from hush.workbench.jobs import BenchJob  # noqa: E402


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.5", "::", "example.org"])
def test_code_is_allowed_on_this_machine_alone(host: str) -> None:
    with pytest.raises(ParameterError, match="must be left out where others reach"):
        WorkbenchSettings(host=host, allow_code=True)
    assert not WorkbenchSettings(host=host).loopback


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.2", "::1", "localhost"])
def test_this_machine_has_several_names(host: str) -> None:
    assert WorkbenchSettings(host=host, allow_code=True).loopback


@pytest.mark.parametrize("url", ["ftp://host", "http://", "host:8470", "http://127.0.0.1:8470/?a=b"])
def test_a_collector_is_an_address(url: str) -> None:
    with pytest.raises(ParameterError, match="collector must be an address"):
        WorkbenchSettings(collector=url)


def test_a_path_of_the_interface_is_no_collector() -> None:
    with pytest.raises(ParameterError, match="leave out the path: http://127"):
        WorkbenchSettings(collector="http://127.0.0.1:8470/v1/collections")


def test_a_certificate_comes_with_its_key() -> None:
    with pytest.raises(ParameterError, match="certificate_key must come with certificate"):
        WorkbenchSettings(certificate=Path("a.pem"))
    with pytest.raises(ParameterError, match="certificate must come with certificate_key"):
        WorkbenchSettings(certificate_key=Path("a.pem"))


def test_variables_have_a_name_of_their_own() -> None:
    given = {"HUSH_PORT": "1", "HUSH_WORKBENCH_PORT": "2", "HUSH_WORKBENCH_ALLOW_CODE": "yes"}
    made = WorkbenchSettings.from_environment(given, names=" A.example , b.example:81")
    assert (made.port, made.allow_code) == (2, True)
    assert made.further_names == {"a.example", "b.example:81"}


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("12", 12),
        (" 20,000 ", 20_000),
        ("20 000", 20_000),
        ("1e3", 1000),
        ("2.5", "must be a whole number"),
        ("", "must be a whole number"),
        ("inf", "must be a whole number"),
        ("0", "must be at least 1"),
        ("2,5", "must be a whole number"),
        ("2000000", "must be at most 1,000,000"),
    ],
)
def test_whole_numbers_are_read_as_people_write_them(given: str, found: object) -> None:
    assert number_in(given, 1, 1_000_000, True) == found


def test_a_fault_has_one_number_and_no_secret(caplog: pytest.LogCaptureFixture) -> None:
    error = KeyError("secret")
    words = faults.in_words(error)
    assert faults.number(error) in words
    assert faults.in_words(error) == words
    assert "secret" not in words
    with caplog.at_level(logging.INFO, "hush.workbench"):
        faults.logged(error)
    assert faults.number(error) in caplog.text
    assert "KeyError: 'secret'" in caplog.text


def test_what_hush_says_is_said_as_it_is(caplog: pytest.LogCaptureFixture) -> None:
    error = ParameterError(message("k", "must be at least 2", 1, "count again"))
    assert faults.in_words(error) == "k must be at least 2, got 1; count again."
    with caplog.at_level(logging.INFO, "hush.workbench"):
        faults.logged(error)
        faults.logged(AlreadySaid())
    assert len(caplog.records) == 1
    assert caplog.records[0].exc_info is None


def test_a_job_says_how_far_it_is_in_words() -> None:
    job = BenchJob("Audit", "me", (print, (), {}))
    assert in_words(job) == "Waits for its turn."
    job.state, job.started, job.ended = "running", 10.0, 20.0
    assert in_words(job) == "Working."
    job.fraction, job.note = 0.25, "Drawing reports"
    assert in_words(job) == "Drawing reports, 25%, about 30 s left."
    job.fraction = 0.05
    assert in_words(job) == "Drawing reports, 5%, about 3 min left."
