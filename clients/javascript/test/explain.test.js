import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { unhex } from "../src/bytes.js";
import { sealed } from "../src/envelope.js";
import { explain } from "../src/explain.js";
import { known, law } from "../src/mechanisms.js";
import { spoken } from "../src/spoken.js";

const stored = JSON.parse(readFileSync(new URL("../../../tests/golden/likelihoods.json", import.meta.url), "utf-8"));
const report = (hex) => Uint8Array.from(unhex(hex));
const close = (found, due) => Math.abs(found - due) <= 1e-11 * Math.max(1, Math.abs(due));
const GRR = stored["GRR k=10 epsilon=1.0"].spec;

/** Likelihoods that are not those which Python finds. */
function wrong({ spec, at, reports, logs }, gains) {
  return reports.flatMap((hex, i) => {
    const found = gains(spec, report(hex), at);
    const top = Math.max(...found);
    const right = logs[i].every((due, j) => (due === null ? found[j] === -Infinity : close(found[j] - top, due)));
    return right ? [] : [hex];
  });
}

const gains = (spec, bytes, at) => {
  const said = spoken(spec, law(spec), bytes, String);
  return (at ?? Array.from({ length: law(spec).k }, (_, value) => value)).map(said.gain);
};

test("how likely a report is with each answer is what Python finds", () => {
  for (const [name, entry] of Object.entries(stored)) assert.deepEqual(wrong(entry, gains), [], name);
});

test("every mechanism that is known has likelihoods to be held to", () => {
  const shown = Object.values(stored).map(({ spec }) => spec.protocol ?? spec.mechanism);
  assert.deepEqual([...new Set(shown)].sort(), [...known].sort());
});

test("the vectors find likelihoods that are wrong", () => {
  const turned = (...given) => gains(...given).reverse();
  const found = Object.values(stored).filter((entry) => wrong(entry, turned).length);
  assert.ok(found.length > 0.75 * Object.keys(stored).length, `${found.length}`);
});

test("odds follow from likelihoods, move by what is allowed at most, and sum up", () => {
  for (const [name, { spec, reports, logs }] of Object.entries(stored)) {
    for (const [i, hex] of reports.entries()) {
      const found = explain(spec, report(hex));
      const { answers, factor, bound, delta, revealed } = found;
      assert.equal(found.report, hex, name);
      assert.equal(found.sent.map(({ bytes }) => bytes).join(""), hex, name);
      assert.ok(revealed ? factor === Infinity : delta || factor <= bound, name);
      assert.ok(close(answers.reduce((sum, { after }) => sum + after, 0), 1), name);
      if (spec.low !== undefined) continue;
      answers.forEach(({ likelihood }, j) => assert.ok(close(likelihood, Math.exp(logs[i][j] ?? -Infinity)), name));
      const [one, two] = answers;
      if (!two.likelihood || !one.likelihood) continue;
      const moved = (one.after / two.after) * (two.before / one.before);
      assert.ok(close(moved, one.likelihood / two.likelihood), name);
    }
  }
});

test("a prior goes in, and odds come out", () => {
  const prior = [5, 1, 1, 1, 1, 1, 0, 0, 0, 0];
  const { answers, factor } = explain(GRR, Uint8Array.of(1), { prior });
  assert.ok(close(answers[0].before, 0.5) && close(answers[0].oddsBefore, 1));
  assert.ok(close(answers[1].oddsBefore, 1 / 9) && close(answers[1].oddsAfter, factor / 9));
  assert.ok(close(factor, Math.E) && answers[9].after === 0);
  assert.throws(() => explain(GRR, Uint8Array.of(1), { prior: [1, 2] }), /prior must be 10 numbers/);
  assert.throws(() => explain(GRR, Uint8Array.of(1), { prior: prior.map((each) => -each) }), /prior must/);
});

test("all bytes of an answer are told, with what they are", () => {
  const labels = "abcdefghij".split("");
  const spec = { domain: { size: 10, labels }, hush: 2, mechanism: GRR };
  const [collection, hash, batch] = ["ab".repeat(16), "cd".repeat(32), "ef".repeat(16)];
  const envelope = sealed({ collection, hash, batch, period: 3, build: "shop/1", size: 1, records: Uint8Array.of(4) });
  const { sent, words, answers } = explain({ spec, hash }, { envelope });
  assert.equal(sent.map(({ bytes }) => bytes).join(""), Buffer.from(envelope).toString("hex"));
  const told = Object.fromEntries(sent.map((each) => [each.bytes, each.words]));
  assert.match(told[collection], /collection/);
  assert.match(told["04"], /“e”/);
  assert.match(words[0], /^What left the device: 90 bytes, of which 1 byte depends on the answer\.$/);
  assert.deepEqual(answers.map(({ label }) => label), labels);
});

test("of many answers the likeliest are listed, and what is no report is refused", () => {
  const { answers } = explain(GRR, Uint8Array.of(7), { most: 2 });
  assert.deepEqual(answers.map(({ label }) => label), [7, 0]);
  assert.throws(() => explain(GRR, new Uint8Array(2)), /report must be of 1 bytes, got 2/);
  assert.throws(() => explain(GRR, "04"), /report must be bytes/);
  assert.throws(() => explain({ ...GRR, epsilon: 0.5 }, Uint8Array.of(1)), /epsilon must/);
});
