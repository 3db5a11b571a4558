"""A report, byte by byte: the bytes are the report's, and what is said of them is what they are."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import hush
from hush.workbench.explore import anatomy, dissected
from hush.workbench.explore.numbers import explored, made


@pytest.mark.parametrize("name", explored())
def test_fields_and_bytes_cover_the_record(name: str) -> None:
    m = made(name, 12, 1.0)
    found = dissected(m, 3)
    assert found.size == m.report_dtype.itemsize
    ends = [(field.offset, field.offset + field.size) for field in found.fields]
    assert ends[0][0] == 0
    assert ends[-1][1] == found.size
    assert all(one[1] == other[0] for one, other in pairwise(ends))
    assert [byte.at for byte in found.shown] == list(range(min(found.size, anatomy.SHOWN)))
    assert all(field.meaning and "alone knows" not in field.meaning for field in found.fields)
    assert all(byte.says for byte in found.shown)
    raw = bytes(int(byte.hex, 16) for byte in found.shown)
    assert raw == bytes(int(byte.bits, 2) for byte in found.shown)
    m.validate(np.frombuffer(raw, m.report_dtype))


def shown(m: hush.FrequencyOracle, value: int) -> tuple[anatomy.Anatomy, np.ndarray]:
    """A report that was taken apart, and itself."""
    found = dissected(m, value)
    return found, np.frombuffer(bytes(int(byte.hex, 16) for byte in found.shown), m.report_dtype)


def test_bits_name_the_answers_that_are_supported() -> None:
    m = hush.OUE(k=12, epsilon=1.0)
    found, report = shown(m, 3)
    ones = np.nonzero(m.support_matrix(report)[0])[0].tolist()
    first, last = ([str(v) for v in ones if v < 8], [str(v) for v in ones if v >= 8])
    for byte, named in zip(found.shown, (first, last), strict=True):
        assert byte.says.split(": ")[1].split(";")[0] == (f"ones for {', '.join(named)}" if named else "no ones")
    assert found.shown[1].says.endswith("4 bits are not used")
    assert found.shown[0].says.startswith("answers 0 to 7")


def test_numbers_of_several_bytes_are_read_as_a_whole() -> None:
    m = hush.OLH(k=500, epsilon=1.0)
    found, report = shown(m, 3)
    assert found.shown[0].says == f"{int(report['a'][0]):,}, of which this is the lowest of 4 bytes"
    assert found.shown[1].says == "byte 2 of 4 of the number before"
    assert found.shown[8].says == f"{int(report['bucket'][0]):,}"
    wide, report = shown(hush.GRR(k=300, epsilon=1.0), 3)
    assert wide.shown[0].says == f"{int(report[0]):,}, of which this is the lowest of 2 bytes"


def test_noise_is_told_in_units() -> None:
    m = hush.SHE(k=4, epsilon=1.0)
    found, report = shown(m, 1)
    for value in range(4):
        steps = int(report["steps"][0][value])
        worth = steps / int(m.thresholds["unit"])
        assert found.shown[4 * value].says.startswith(f"answer {value}: {steps:+,} steps, that is {worth:+.3g}")


def test_members_of_a_subset_are_told_in_order() -> None:
    found, report = shown(hush.SS(k=12, epsilon=1.0), 3)
    members = report["subset"][0].tolist()
    assert [byte.says for byte in found.shown] == [
        f"{place} member: {v}" for place, v in zip(("first", "second", "third"), members, strict=True)
    ]


def test_a_long_report_is_cut_and_says_so() -> None:
    found = dissected(hush.SHE(k=100, epsilon=1.0), 1)
    assert (found.size, len(found.shown), found.left_out) == (400, anatomy.SHOWN, 400 - anatomy.SHOWN)


def test_the_evidence_is_the_exact_likelihood_ratio() -> None:
    m = hush.GRR(k=12, epsilon=1.0)
    found, report = shown(m, 3)
    assert found.evidence == (
        f"This report is likeliest for 1 answer of 12 ({int(report[0])}): 2.72 times as likely as for the least likely "
        "one."
    )
    many = dissected(hush.HR(k=100, epsilon=1.0), 3)
    assert " more)" in many.evidence


def test_a_report_that_says_nothing_is_called_so() -> None:
    m = hush.LHO(k=2, g=4)
    sayings = {dissected(m, 1).evidence for _ in range(200)}
    assert any("possible only for some answers" in said for said in sayings)
    assert any("equally likely for every answer" in said for said in sayings)


def test_reports_are_fresh_and_from_secure_randomness() -> None:
    m = hush.OLH(k=12, epsilon=1.0)
    assert len({tuple(byte.hex for byte in dissected(m, 3).shown) for _ in range(5)}) == 5


def test_a_record_within_a_record_is_taken_apart_too() -> None:
    found = dissected(hush.uLH(k=12, epsilon=1.0, sensitive=range(4)), 1)
    assert [field.name for field in found.fields] == ["kind", "base.a", "base.b", "base.bucket", "value"]
    assert found.fields[1].meaning.startswith("factor of the hash function")
