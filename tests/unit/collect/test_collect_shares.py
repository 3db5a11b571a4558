"""What one connection or address may have of what all have together."""

from __future__ import annotations

from hush.collect.server.shares import Shares
from hush.collect.settings import ServerSettings


def test_whoever_waits_longest_to_read_goes_first() -> None:
    shares, ended = Shares(ServerSettings(most_unread=1024)), []

    def wait(name: str, size: int) -> None:
        shares.wait(name, size, lambda: ended.append(name))

    for name in "abc":
        wait(name, 400)
    assert ended == ["a"]
    wait("b", 500)  # has more to read by now, and is the last who came
    assert (ended, shares.bytes_unread) == (["a"], 900)
    wait("d", 1000)
    assert (ended, shares.bytes_unread) == (["a", "c", "b"], 1000)
    shares.read("d")
    shares.read("d")
    assert shares.bytes_unread == 0
    wait("e", 2000)
    assert (ended, shares.bytes_unread) == (["a", "c", "b", "e"], 0)


def test_an_address_has_half_of_the_connections_where_addresses_are_those_of_clients() -> None:
    for more, most in (({}, 4), ({"address_rate": 0.0}, 8), ({"trusted_proxies": "192.0.2.7"}, 8)):
        shares = Shares(ServerSettings(most_connections=8, **more))  # type: ignore[arg-type]
        for _ in range(most):
            who = shares.enter("192.0.2.1")
            assert not shares.too_many(who)
        assert shares.too_many(shares.enter("192.0.2.1"))
        shares.leave(who)
        assert not shares.too_many(who)
        assert shares.too_many(shares.enter("192.0.2.2")) == (most == 8)


def test_there_are_only_so_many_connections_whoever_has_them() -> None:
    shares = Shares(ServerSettings(most_connections=8))
    everybody = [shares.enter(f"192.0.2.{at}") for at in range(9)]
    assert shares.too_many(everybody[0])
    shares.leave(everybody[8])
    assert not any(shares.too_many(who) for who in everybody[:8])
