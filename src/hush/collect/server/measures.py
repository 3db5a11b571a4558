"""What is measured, for Prometheus: counts and times by route, code and reason, and never by collection or person."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_SECONDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10)
_CREATED = re.compile(rb"(# \w+ )?\w+_created\b")
_SIZES = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000)


class Measures:
    """The measures of one server, in a registry of its own."""

    def __init__(self) -> None:
        registry = self.registry = CollectorRegistry()
        self._requests = Counter("hush_requests", "Requests that were answered", ["route", "code"], registry=registry)
        self._request_seconds = Histogram(
            "hush_request_seconds", "How long requests took", ["route"], buckets=_SECONDS, registry=registry
        )
        self._refusals = Counter("hush_refusals", "Requests that were refused", ["reason"], registry=registry)
        self.reports = Counter("hush_reports_accepted", "Reports that were accepted", registry=registry)
        self.batches = Counter("hush_batches", "Batches that the store settled", ["fate"], registry=registry)
        self.group_sizes = Histogram("hush_group_batches", "Batches in one commit", buckets=_SIZES, registry=registry)
        self.commit_seconds = Histogram(
            "hush_commit_seconds",
            "How long a commit took",
            buckets=_SECONDS,
            registry=registry,
        )
        self.fold_seconds = Histogram(
            "hush_fold_seconds", "How long a step of folding took", buckets=_SECONDS, registry=registry
        )
        self.folded = Counter("hush_batches_folded", "Batches that were folded into aggregates", registry=registry)
        self.failures = Counter(
            "hush_background_failures", "Times that work in the background failed", ["work"], registry=registry
        )
        self.pending = Gauge("hush_batches_pending", "Batches that are to be folded", registry=registry)
        self._by_answer: dict[tuple[str, int], tuple[Counter, Histogram]] = {}

    def answered(self, route: str, code: int, seconds: float) -> None:
        """Count an answer."""
        known = self._by_answer.get((route, code))
        if known is None:
            known = self._requests.labels(route, str(code)), self._request_seconds.labels(route)
            self._by_answer[route, code] = known
        known[0].inc()
        known[1].observe(seconds)

    def refused(self, reason: str) -> None:
        """Count a refusal."""
        self._refusals.labels(reason).inc()

    def watch(self, name: str, help: str, value: Callable[[], float]) -> None:
        """A gauge that is read when someone looks."""
        Gauge(name, help, registry=self.registry).set_function(value)

    def watch_together(self, helps: Mapping[str, str], values: Callable[[], Mapping[str, float]]) -> None:
        """Gauges that are read at once when someone looks, by name."""
        self.registry.register(_Together(helps, values))

    def shown(self) -> bytes:
        """All of it, as Prometheus reads it; but not when each thing happened first, which the library would add."""
        lines = generate_latest(self.registry).splitlines(keepends=True)
        return b"".join(line for line in lines if not _CREATED.match(line))


class _Together(Collector):
    """Gauges of which one reading tells all."""

    def __init__(self, helps: Mapping[str, str], values: Callable[[], Mapping[str, float]]) -> None:
        self._helps, self._values = helps, values

    def collect(self) -> Iterator[Metric]:
        values = self._values()
        for name, help in self._helps.items():
            yield GaugeMetricFamily(name, help, value=values[name])
