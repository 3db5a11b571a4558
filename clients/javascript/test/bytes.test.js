import assert from "node:assert/strict";
import test from "node:test";

import { canonical, hashed, hex, newId, unhex } from "../src/bytes.js";
import { golden } from "./golden.js";

test("names are in the order of their UTF-16 units, as RFC 8785 has it", () => {
  const plain = { "\u20ac": 1, "\r": 2, "\ufb33": 3, 1: 4, "\ud83d\ude00": 5, "\u0080": 6, "\u00f6": 7, 10: 8, 9: 9 };
  const names = [...canonical(plain).matchAll(/:(\d)/g)].map(([, digit]) => Number(digit));
  assert.deepEqual(names, [2, 4, 8, 9, 6, 7, 1, 5, 3]);
});

test("numbers and texts are as ECMAScript writes them", () => {
  const plain = [333333333.33333329, 1e30, 4.5, 2e-3, 1e-27, -0, 1.0, "\u000f\n\"\\/é€", null, true];
  const text = String.raw`[333333333.3333333,1e+30,4.5,0.002,1e-27,0,1,"\u000f\n\"\\/é€",null,true]`;
  assert.equal(canonical(plain), text);
});

test("specs of Python have the hashes that Python gives them", async () => {
  const specs = Object.values(golden("specs-0.1")).flat();
  assert.ok(specs.length > 50);
  for (const [text, hash] of specs) assert.equal(await hashed(JSON.parse(text)), hash);
});

test("bytes and digits say the same", () => {
  assert.equal(hex(Uint8Array.from(unhex("00ff0a"))), "00ff0a");
  assert.match(newId(), /^[0-9a-f]{32}$/);
  assert.notEqual(newId(), newId());
});
