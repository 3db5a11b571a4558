import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { confirmed, loss } from "../src/loss.js";
import { known, prepared } from "../src/mechanisms.js";
import { replayed } from "../src/words.js";
import { failures } from "./vectors.js";

const stored = JSON.parse(readFileSync(new URL("../../../tests/golden/replays.json", import.meta.url), "utf-8"));

test("the same words make the same reports, with the same losses, and hostile specs are refused", async () => {
  assert.deepEqual(await failures(stored, { prepared, loss, confirmed, replayed }), []);
});

test("every mechanism that is known has vectors", () => {
  const shown = Object.values(stored.replays).map(({ spec }) => spec.mechanism?.mechanism ? spec.protocol : (spec.protocol ?? spec.mechanism));
  assert.deepEqual([...new Set(shown)].sort(), [...known].sort());
});

test("the vectors find a client that is wrong", async () => {
  const some = { losses: {}, replays: { one: stored.replays["OUE k=65 epsilon=3.0"] }, hostile: { one: Object.values(stored.hostile)[0] } };
  const shifted = (halves) => replayed(halves.map((half) => half ^ 1));
  assert.equal((await failures(some, { prepared, loss, confirmed, replayed: shifted })).length, 1);
  const trusting = () => ({ epsilon: 1, declared: 1, delta: 0, unprotected: 0 });
  const wrong = await failures(some, { prepared, loss: trusting, confirmed, replayed });
  assert.deepEqual(wrong, ["one: epsilon is 1, not 3", "one: not refused"].filter((each) => wrong.includes(each)));
  assert.equal(wrong.length, 2);
});
