"""A collector with collections to look at: a question asked for the second time, a mean, and a draft, over real HTTP.

crowd = Crowd(url, admin_token)
crowd.report(2_500)         # so many more people answer the question of `crowd.id`
"""

from __future__ import annotations

import httpx
import numpy as np

import hush
from hush.collect.remote import Remote
from hush.collect.sending import sent

ANSWERS = ["at home", "in an office", "outdoors", "on the road", "not at all", "other"]
SHARES = (0.38, 0.31, 0.09, 0.07, 0.11, 0.04)
_BATCH = 500


class Crowd:
    """People who answer. Who they are is drawn with a seed; their reports are not.

    Args:
        url: Of a collector without collections.
        token: An administrator's.
    """

    def __init__(self, url: str, token: str) -> None:
        self._url, self._token = url, token
        self._people = np.random.default_rng(7)
        domain = hush.Domain(labels=ANSWERS)
        with Remote(url, token) as it:
            before = hush.Spec(hush.OUE(k=len(ANSWERS), epsilon=1.0), domain)
            first = it.create(spec=before.to_dict(), name="Where people work", target_n=10_000, wished_error=0.06)
            it.open(first["id"])
            self._send(first["id"], before, self._places(9_400))
            it.close(first["id"])
            self._spec = hush.Spec(hush.OUE(k=len(ANSWERS), epsilon=1.5), domain)
            wishes = {"name": "Where people work, autumn", "target_n": 20_000, "wished_error": 0.03}
            self.id = str(it.succeed(first["id"], spec=self._spec.to_dict(), **wishes)["id"])
            it.open(self.id)
            way = hush.Spec(hush.Piecewise(low=0.0, high=120.0, epsilon=1.0))
            mean = it.create(spec=way.to_dict(), name="Minutes on the way", target_n=9_000, wished_error=3.0)
            it.open(mean["id"])
            self._send(mean["id"], way, np.clip(self._people.gamma(3.0, 12.0, 5_200), 0.0, 120.0))
            trip = hush.Spec(hush.GRR(k=3, epsilon=2.0), hush.Domain(labels=["by bike", "by car", "by train"]))
            it.create(spec=trip.to_dict(), name="How people come here", target_n=5_000)
        self.report(12_500)

    def report(self, n: int) -> None:
        """Let so many more people answer."""
        self._send(self.id, self._spec, self._places(n))

    def _places(self, n: int) -> np.ndarray:
        return self._people.choice(ANSWERS, n, p=SHARES)

    def _send(self, id: str, spec: hush.Spec, values: np.ndarray) -> None:
        with Remote(self._url, self._token) as it, httpx.Client(base_url=self._url, timeout=60) as http:
            view = it.show(id, whole=True)
            key = it.issue_token("ingest", label="devices", collection=id, seconds=3600)
            taken = sum(sent(http, view, spec.privatize(values), key=key, build="app/1", size=_BATCH))
        assert taken == len(values)
