"""The benchmark of the client for web pages, in Node: it runs what collectors serve, and measures what it says."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from benchmarks.browser import engines, loading, specs

import hush
from tests import javascript


@pytest.fixture(scope="module")
def node() -> Iterator[engines.Node]:
    javascript.node()
    with engines.modules() as folder:
        yield engines.Node(folder)


@pytest.mark.parametrize("name", ["GRR", "SS, dense", "Duchi", "LGRR", "Memoized"])
def test_single_reports_are_those_of_the_mechanism(node: engines.Node, name: str) -> None:
    mechanism = dict(specs.large())[name]
    found = node.call("measure.js", "singles", mechanism.to_dict(), 20)
    assert found["size"] == mechanism.report_dtype.itemsize
    assert 0 < found["median"] <= found["p99"] <= found["slowest"]
    assert found["tables"] > 0


def test_reports_and_plain_ones_are_counted(node: engines.Node) -> None:
    oue = hush.OUE(k=128, epsilon=1.0)
    plain = {"k": 128, "p": 0.5, "q": 0.25}
    assert node.call("measure.js", "drawn", oue.to_dict(), 1, 5) > 0
    assert node.call("measure.js", "drawnPlainly", "bits", plain, 1, 5) > 0
    with pytest.raises(RuntimeError, match=r"^drawn failed in Node: HushError: mechanism must be one of .*, got XYZ"):
        node.call("measure.js", "drawn", {**oue.to_dict(), "mechanism": "XYZ"}, 1, 5)


def test_plain_bits_are_ones_by_their_probabilities(node: engines.Node) -> None:
    (node.folder / "law.js").write_text(
        """import { bits } from "./plain.js";
        export const counted = (settings, value, n) => {
          const draw = bits(settings);
          const counts = new Array(settings.k).fill(0);
          for (let i = 0; i < n; i++) {
            const report = draw(value);
            if (report.length !== 2) throw new Error("13 bits are 2 bytes");
            for (let bit = 0; bit < settings.k; bit++) counts[bit] += (report[bit >> 3] >> (bit & 7)) & 1;
          }
          return counts;
        };"""
    )
    assert node.call("law.js", "counted", {"k": 13, "p": 1, "q": 0}, 11, 3) == [3 * (bit == 11) for bit in range(13)]
    n = 40_000
    counts = node.call("law.js", "counted", {"k": 13, "p": 0.5, "q": 0.25}, 11, n)
    for bit, count in enumerate(counts):  # a false alarm in 10^9 runs: 6.9 standard deviations
        p = 0.5 if bit == 11 else 0.25
        assert abs(count - n * p) < 6.9 * (n * p * (1 - p)) ** 0.5


def test_the_module_loads_and_its_size_is_that_of_the_build(node: engines.Node) -> None:
    assert node.call("load.js", "loaded", "./hush.js")["time"] > 0
    assert loading.sizes(node).misses == []
