import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { loss } from "../src/loss.js";
import { known, prepared } from "../src/mechanisms.js";
import { logarithm, within } from "../src/numbers.js";
import { replayed, secureWords } from "../src/words.js";
import { wordsOf } from "./vectors.js";

const { replays } = JSON.parse(readFileSync(new URL("../../../tests/golden/replays.json", import.meta.url), "utf-8"));
const specOf = (name) => structuredClone(replays[name].spec);
const GRR = specOf("GRR k=10 epsilon=1.0");

test("what is prepared is frozen, and has what a client needs", () => {
  const mechanism = prepared(GRR);
  assert.ok(Object.isFrozen(mechanism) && Object.isFrozen(known));
  const { name, kind, k, size, loss: lost } = mechanism;
  assert.deepEqual([name, kind, k, size, lost], ["GRR", "frequency", 10, 1, loss(GRR)]);
  assert.equal(prepared(specOf("Duchi low=0.0 high=10.0 epsilon=1.0 steps=1024")).kind, "numeric");
  assert.equal(prepared(specOf("LGRR k=5 eps_perm=2.0 eps_1=1.0")).kind, "longitudinal");
});

test("a spec is only read", () => {
  for (const { spec } of Object.values(replays)) {
    const before = structuredClone(spec);
    prepared(spec);
    loss(spec);
    assert.deepEqual(spec, before);
  }
});

test("what JSON cannot say is refused, too", () => {
  for (const epsilon of [NaN, Infinity, -Infinity, 1n, new Number(1)]) {
    assert.throws(() => loss({ ...GRR, epsilon }), /^HushError: epsilon must be a number in /);
  }
  for (const k of [NaN, Infinity, 10n, 10.5]) assert.throws(() => loss({ ...GRR, k }), /^HushError: k must be an integer in /);
  for (const keep of [5n, 0.5, new String("5")]) {
    assert.throws(() => loss({ ...GRR, thresholds: { keep } }), /^HushError: keep must be an integer in /);
  }
  for (const plain of [undefined, null, "GRR", 5, [], () => GRR]) {
    assert.throws(() => prepared(plain), /^HushError: mechanism must be an object, got .+; report nothing to it$/);
  }
});

test("a parameter that another spec inherits is not its own", () => {
  assert.throws(() => loss(Object.create(GRR)), /^HushError: thresholds must be an object/);
  const inherited = Object.assign(Object.create({ k: 10 }), GRR);
  delete inherited.k;
  assert.throws(() => loss(inherited), /^HushError: k must /);
});

test("a choice that the spec leaves to its reader is refused", () => {
  for (const [name, entry] of [["OLH k=50 epsilon=9.0 g=8104", "g"], ["SS k=100 epsilon=1.0 omega=27", "omega"]]) {
    const spec = specOf(name);
    delete spec[entry];
    assert.throws(() => loss(spec), new RegExp(`^HushError: ${entry} must be an integer in `));
  }
});

test("values are checked, and not repeated", () => {
  const words = secureWords();
  for (const name of ["GRR k=10 epsilon=1.0", "LGRR k=5 eps_perm=2.0 eps_1=1.0", "uRR k=5 epsilon=2.0 z=exact reveal=pair"]) {
    const mechanism = prepared(specOf(name));
    for (const value of [-1, 10, 1.5, NaN, "4242", null, undefined, true, [1], 4242]) {
      assert.throws(() => mechanism.draw(value, words), /^HushError: value must be an integer in 0\.\.\d+, got another; pass one$/);
    }
  }
  const duchi = prepared(specOf("Duchi low=0.0 high=10.0 epsilon=1.0 steps=1024"));
  for (const value of [-0.001, 10.001, NaN, Infinity, "5", null, 5n]) {
    assert.throws(() => duchi.draw(value, words), /^HushError: value must be a number in 0\.\.10, got another; pass one$/);
  }
});

test("a spec that does not say how values are revealed is of pairs", () => {
  const names = Object.keys(replays).filter((name) => name.includes("reveal=pair"));
  assert.ok(names.length > 20);
  for (const name of names) {
    const { spec, values, words } = structuredClone(replays[name]);
    const [told, untold] = [spec, { ...spec, reveal: undefined }].map((each) => {
      const [mechanism, source] = [prepared(each), replayed(wordsOf(words))];
      return values.map((/** @type {number} */ value) => mechanism.draw(value, source));
    });
    assert.deepEqual(untold, told, name);
  }
});

test("a bad value takes no word", () => {
  const words = replayed(Uint32Array.of(1, 2));
  assert.throws(() => prepared(GRR).draw(10, words), /value/);
  words.next();
  assert.deepEqual([words.lo, words.hi], [1, 2]);
});

test("what is kept is not changed, and answers do not change", () => {
  const words = secureWords();
  for (const name of ["LOSUE k=70 eps_perm=4.0 eps_1=0.5", "OLOLOHA k=70 eps_perm=4.0 eps_1=0.5 g=3", "Memoized OUE k=9 epsilon=1.0"]) {
    const mechanism = prepared(specOf(name));
    const first = mechanism.draw(3, words);
    const before = structuredClone(first.memory);
    let { memory } = first;
    for (const value of [3, 4, 5, 3, 0]) ({ memory } = mechanism.draw(value, words, memory));
    assert.deepEqual(first.memory, before);
    for (const [state, answer] of Object.entries(before.answers)) assert.deepEqual(memory.answers[state], answer);
    assert.deepEqual(memory.once, before.once);
  }
});

test("a memoized report is the same, and no one else's to change", () => {
  const mechanism = prepared(specOf("Memoized GRR k=300 epsilon=1.0"));
  const words = secureWords();
  const { report, memory } = mechanism.draw(7, words);
  const again = mechanism.draw(7, words, memory);
  assert.deepEqual(again.report, report);
  again.report.fill(255);
  report.fill(255);
  assert.notDeepEqual(mechanism.draw(7, words, memory).report, report);
});

test("a spec is refused, or its loss is found, in no time", { timeout: 20_000 }, () => {
  const near = (k) => String(2n ** 64n / BigInt(k) + 1n); // hardly more than a fair choice
  const faint = { protocol: "LGRR", k: 1001, eps_perm: 1, eps_1: 0.5, thresholds: { permanent: near(1001), fresh: near(1001) } };
  const { epsilon } = loss(faint);
  assert.ok(epsilon > 0 && epsilon < 1e-30, String(epsilon));
  const [n, k] = [65536, 2 ** 18];
  const each = (part) => Array(n).fill(part).join(" ");
  const endless = { mechanism: "MSS", code: "enumerative", k, epsilon: 1, moduli: Array(n).fill(k), thresholds: { omega: each(k / 2), keep: each(2n ** 63n + 2n) } };
  assert.throws(() => loss(endless), /^HushError: moduli must fit the other entries/);
});

test("losses are rounded up", () => {
  const log3 = 1.0986122886681098; // ln 3 is 1.09861228866810969...
  assert.equal(logarithm([3n, 1n]), log3);
  assert.ok(within([3n, 1n], log3) && !within([3n, 1n], 1.0986122886681096));
  assert.equal(logarithm([1n, 1n]), 0);
  assert.equal(logarithm([1n, 2n]), 0);
  assert.ok(Math.abs(logarithm([10n ** 9n + 1n, 10n ** 9n]) - 1e-9) < 1e-18);
  const thin = logarithm([2n ** 200n + 3n, 2n ** 200n]); // 3 / 2^200, less its square
  assert.ok(thin <= 3 * 2 ** -200 && thin > 2.999 * 2 ** -200, String(thin));
  assert.equal(logarithm([1n << 50n, 1n]), 34.657359027997266); // 50 ln 2 is 34.6573590279972654...
});
