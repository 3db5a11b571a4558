"""Write envelopes.json: batches as bytes, and bytes that are none. Kept ones stay: only new cases may be added.

python -m tests.golden.write_envelopes
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from hush.collect.envelope import Envelope, body

FILE = Path(__file__).with_name("envelopes.json")
IDS = {"collection": bytes(range(16)).hex(), "batch": bytes(range(240, 256)).hex()}
HASH = hashlib.sha256(b"a spec").hexdigest()
CASES: dict[str, dict[str, Any]] = {
    "two records of one byte": {"period": 7, "build": "shop-app/3.1", "size": 1, "records": "0103"},
    "no build, period 0": {"period": 0, "build": "", "size": 2, "records": "ff00"},
    "the last period": {"period": 2**31 - 1, "build": "a", "size": 9, "records": "00" * 9},
    "records of zero bytes": {"period": 3, "build": "hush-python/0.2.0", "size": 4, "records": "00" * 12},
    "the longest build": {"period": 1, "build": "b" * 64, "size": 1, "records": "2a"},
}
_GOOD = Envelope(**IDS, spec_hash=HASH, period=7, build="shop-app/3.1", size=1, records=b"\x01\x03").to_bytes()
_COUNTS = len(_GOOD) - 10
WRONG: dict[str, bytes] = {
    "nothing": b"",
    "another magic": b"HUSH" + _GOOD[4:],
    "another version": _GOOD[:4] + b"\x02\x00" + _GOOD[6:],
    "cut short in its head": _GOOD[:40],
    "cut short in its records": _GOOD[:-1],
    "one byte more": _GOOD + b"\x00",
    "no records": _GOOD[:_COUNTS] + bytes(4) + b"\x01\x00\x00\x00",
    "records of no bytes": _GOOD[:_COUNTS] + b"\x02\x00\x00\x00" + bytes(4),
    "a period of 2^31": _GOOD[:70] + b"\x00\x00\x00\x80" + _GOOD[74:],
    "a build that begins with a space": _GOOD.replace(b"shop-app", b" hop-app"),
    "a build that is not ASCII": _GOOD.replace(b"shop-app", b"sh\xc3\xb6papp"),
    "a build that is not UTF-8": _GOOD.replace(b"shop-app", b"sh\xffp-app"),
    "a build of 65 bytes": _GOOD[:74] + bytes([65]) + b"b" * 65 + _GOOD[_COUNTS:],
    "more records than a batch has": _GOOD[:_COUNTS]
    + (100_001).to_bytes(4, "little")
    + b"\x01\x00\x00\x00"
    + bytes(100_001),
}


def stored() -> dict[str, Any]:
    """What the file holds."""
    good = {}
    for name, case in CASES.items():
        made = Envelope(**IDS, spec_hash=HASH, **{**case, "records": bytes.fromhex(case["records"])})
        data = made.to_bytes()
        sent = body("key-1", data).hex()
        good[name] = {**IDS, "spec_hash": HASH, **case, "bytes": data.hex(), "digest": made.digest.hex(), "sent": sent}
    return {"good": good, "wrong": {name: data[:400].hex() for name, data in WRONG.items()}}


if __name__ == "__main__":
    FILE.write_text(json.dumps(stored(), indent=1) + "\n", encoding="utf-8")
