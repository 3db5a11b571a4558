"""Attacks as audits: a secret is drawn evenly, reports are made, an attacker guesses, and its success is a proof."""

from __future__ import annotations

from hush.audit.games.attributes import OneAttribute
from hush.audit.games.base import Game, GameTarget
from hush.audit.games.changes import Changes
from hush.audit.games.pools import Pools
from hush.audit.games.reidentification import Reidentification

GAMES: dict[str, type[Game]] = {each.method: each for each in (Pools, Changes, OneAttribute, Reidentification)}
"""By the name of the method."""

__all__ = ["GAMES", "Changes", "Game", "GameTarget", "OneAttribute", "Pools", "Reidentification"]
