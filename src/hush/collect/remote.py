"""A running collector, asked over HTTP: `Service` at a distance."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote

import httpx

from hush import atomic
from hush.collect.addresses import beside, parts_of
from hush.collect.manager import Plain, Plains
from hush.collect.refusals import REASONS, Refused
from hush.collect.speaking import connected, unseen
from hush.errors import HushError, Message, ParameterError, Unsaid, message

_SECONDS = 60.0
_USUAL = -1.0  # as long as whoever asks waits for anything
_SAID = re.compile(r"(?s)(?P<rule>.*), got (?P<value>.*)")


class NoCollector(HushError, ConnectionError):
    """No collector answers there."""


class SlowCollector(NoCollector):
    """Something is there, and does not answer in time."""


class Remote:
    """A collector at an address.

    Args:
        url: Where it is, `http://127.0.0.1:8470`, say.
        token: What lets in; none for what anyone may see.
        plaintext: Whether the token may go to another machine without TLS, where whoever is between can take it.
        seconds: How long to wait for a connection, and for each part of an answer; what may take longer waits longer.
        transport: What carries requests, for tests.
    """

    def __init__(
        self,
        url: str,
        token: str = "",
        *,
        plaintext: bool = False,
        seconds: float = _SECONDS,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        parts = parts_of(url)
        if parts is None or parts.query or parts.fragment:
            rule = "must be an address: http:// or https://, a host, and a port of at most 65535, if any"
            raise ParameterError(message("server", rule, Unsaid("another one"), "use e.g. http://127.0.0.1:8470"))
        if (alone := beside(url)) is not None:
            rule, got = "must be the address of the server alone", Unsaid("one with a path of its interface")
            raise ParameterError(message("server", rule, got, f"leave out the path: {alone}"))
        if not token.isascii() or not token.isprintable():
            rule, got = "must be printable ASCII, as the server printed it", Unsaid("another one")
            raise ParameterError(message("token", rule, got, "copy it whole, without a line break"))
        if token and not plaintext and not unseen(url):
            rule, got = "must begin with https:// where a token goes to another machine", Unsaid("http://")
            remedy = "use https; or allow plaintext, within a network that you trust"
            raise ParameterError(message("server", rule, got, remedy))
        self.url, self._seconds = f"{url.rstrip('/')}", seconds
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._http = connected(self.url, headers=headers, timeout=seconds, transport=transport, what="a Remote")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close_connections()

    def close_connections(self) -> None:
        """Ask no more."""
        self._http.close()

    # What `Service` does.

    def create(self, *, spec: Plain, name: str, who: str = "", **wishes: Any) -> Plain:
        """A new collection, a draft."""
        return self._asked("POST", "/v1/collections", {"spec": spec, "name": name, **wishes})

    def open(self, id: str, *, force: bool = False, began: int | None = None, who: str = "") -> Plain:
        """Let people report, if they can give what was asked for."""
        asked = {"force": force, **({} if began is None else {"began": began})}
        return self._asked("POST", f"{_at(id)}/open", asked, seconds=max(self._seconds, _SECONDS))  # it may compile

    def close(self, id: str, *, who: str = "") -> Plain:
        """Let nobody report any more."""
        return self._asked("POST", f"{_at(id)}/close", {})

    def delete(self, id: str, *, who: str = "") -> None:
        """Let a draft go."""
        with self._answer("DELETE", _at(id)):
            pass

    def succeed(self, id: str, *, spec: Plain, who: str = "", **wishes: Any) -> Plain:
        """A new draft that follows a collection."""
        return self._asked("POST", f"{_at(id)}/succeed", {"spec": spec, **wishes})

    def list(self) -> Plains:
        """The collections that the token may see."""
        return self._listed("/v1/collections")

    def show(self, id: str, *, whole: bool) -> Plain:
        """One collection; all of it for administrators, else what anyone may see."""
        return self._asked("GET", _at(id))

    def exclude(self, id: str, build: str, *, undo: bool = False, who: str = "") -> Plain:
        """Leave out what one release of a client sent, or let it count again."""
        return self._asked("POST", f"{_at(id)}/exclude", {"build": build, "undo": undo}, seconds=None)

    def verify(self, id: str, *, repair: bool = False, who: str = "") -> Plain:
        """Whether the aggregates are those of the records that are kept; where not, they can be made so."""
        return self._asked("POST", f"{_at(id)}/verify", {"repair": repair}, seconds=None)

    def estimate(self, id: str, *, period: int | None = None, level: float = 0.95) -> Plain:
        """What is estimated now."""
        asked = {"level": level, **({} if period is None else {"period": period})}
        return self._asked("GET", f"{_at(id)}/estimate", query=asked)

    def aggregate(self, id: str, *, period: int | None = None) -> bytes:
        """What the reports add up to."""
        asked = {} if period is None else {"period": period}
        with self._answer("GET", f"{_at(id)}/aggregate", query=asked) as answer:
            return answer.read()

    def periods(self, id: str) -> Plains:
        """The periods that there are reports of."""
        return self._listed(f"{_at(id)}/periods")

    def export(self, id: str, folder: Path, *, period: int | None = None) -> Plain:
        """Write the reports to a file in a folder, as they arrive; a file that is cut short is not kept."""
        path = folder / f"{id}.parquet"
        asked = {} if period is None else {"period": period}
        with (
            self._answer("GET", f"{_at(id)}/export", query=asked, seconds=None) as answer,
            atomic.replacing(path) as part,
            part.open("wb") as file,
        ):
            for some in answer.iter_bytes():
                file.write(some)
        return {"path": str(path)}

    def issue_token(
        self, role: str, *, label: str, collection: str | None = None, seconds: int | None = None, who: str = ""
    ) -> str:
        """A new token, seen this once."""
        asked = {"role": role, "label": label, "collection": collection, "seconds": seconds}
        return str(self._asked("POST", "/v1/tokens", asked)["token"])

    def tokens(self) -> Plains:
        """What is known of all tokens."""
        return self._listed("/v1/tokens")

    def revoke(self, token_id: str, *, who: str = "", after: int = 0) -> None:
        """Let a token hold no more, at once or after so many seconds."""
        with self._answer("DELETE", f"/v1/tokens/{quote(token_id, safe='')}", query={"after": after}):
            pass

    def refusals(self, id: str) -> dict[str, int]:
        """How often something was refused, by reason."""
        return self._asked("GET", f"{_at(id)}/refusals")

    def deeds(self, limit: int = 100) -> Plains:
        """What administrators did, the latest first."""
        return self._listed("/v1/deeds")[:limit]

    def scripts(self) -> Plain:
        """The client for web pages: its version, and the path and hash of each script."""
        return self._asked("GET", "/client")

    def backup(self, path: Path) -> Plain:
        """A copy of the store, on the server's own disk, in the folder that its operator allows: a name in it."""
        if path != Path(path.name) or path.name in ("", ".."):
            rule, remedy = "must be a name without folders, for a server", "the server's --backups is the folder"
            raise ParameterError(message("path", rule, Unsaid(repr(str(path))), remedy))
        return self._asked("POST", "/v1/backup", {"name": path.name}, seconds=None)

    # How it is asked.

    def _asked(
        self,
        method: str,
        path: str,
        body: Plain | None = None,
        *,
        query: Plain | None = None,
        seconds: float | None = _USUAL,
    ) -> Any:
        with self._answer(method, path, body, query=query, seconds=seconds) as answer:
            answer.read()
            try:
                return answer.json()
            except ValueError:
                raise _no_collector(self.url) from None

    def _listed(self, path: str) -> Plains:
        found: Plains = self._asked("GET", path)
        return found

    @contextmanager
    def _answer(
        self,
        method: str,
        path: str,
        body: Plain | None = None,
        *,
        query: Plain | None = None,
        seconds: float | None = _USUAL,
    ) -> Iterator[httpx.Response]:
        seconds = self._seconds if seconds == _USUAL else seconds
        try:
            with self._http.stream(method, path, json=body, params=query, timeout=seconds) as answer:
                if answer.is_success:
                    yield answer
                    return
                answer.read()
        except httpx.TimeoutException as error:
            rule, remedy = "must be a collector that answers in time", f"{_cause(error)}; try again in a while"
            raise SlowCollector(message("server", rule, self.url, remedy)) from None
        except httpx.HTTPError as error:
            rule, remedy = "must be a collector that answers", f"{_cause(error)}; start one with `hush serve`"
            raise NoCollector(message("server", rule, self.url, remedy)) from None
        raise refusal(answer, self.url)


def _at(id: str) -> str:
    return f"/v1/collections/{quote(id, safe='')}"


def _cause(error: httpx.HTTPError) -> str:
    return " ".join(str(error).split()) or type(error).__name__


def refusal(answer: httpx.Response, url: str) -> HushError:
    """What the server said, as it would have been said here."""
    try:
        problem = answer.json()
        code, detail = problem["reason"], str(problem["detail"])
    except (ValueError, KeyError, TypeError):
        return _no_collector(url, answer.status_code)
    if code == "unknown" and problem.get("parameter") == "address":  # it answers, but not as a collector does there
        got = Unsaid(f"{url!r}, which has no such address")
        return NoCollector(message("server", "must be a collector", got, "leave out the path, if there is one"))
    parameter, remedy = problem.get("parameter"), problem.get("remedy")
    said: Message | str = detail
    if isinstance(parameter, str) and isinstance(remedy, str):
        middle = detail.removeprefix(f"{parameter} ").removesuffix(f"; {remedy}")
        parts = _SAID.fullmatch(middle)
        if parts is not None:
            said = Message(parameter, parts["rule"], parts["value"], remedy)
    return Refused(code if code in REASONS else "internal", said)


def _no_collector(url: str, status: int | None = None) -> NoCollector:
    got = url if status is None else Unsaid(f"{url!r}, which answers {status} and no reason")
    return NoCollector(message("server", "must be a collector", got, "check the address, and what stands before it"))
