import assert from "node:assert/strict";
import test from "node:test";

import { charge, consent, cost, deltas, exact, shown, sum } from "../src/limits.js";

const LIMITS = { maximum: 2, maximumChain: 10, maximumTotal: 20, delta: 0, unprotected: false, timesKnown: false };
const LOSS = { epsilon: 0.1, declared: 0.1, delta: 0, unprotected: 0 };
const KEPT = { ...LOSS, epsilon: 0.5, declared: 0.5, lasting: 1, permanent: 1, fresh: 1.25, kept: 3 };
const of = (loss, number = 0, chain = ["a"]) => ({ chain, origin: "o", hash: "h", loss, answers: { a: number } });

test("numbers are what their decimals say", () => {
  assert.equal(exact(0.1) * 10n, exact(1));
  assert.equal(exact(0.1) + exact(0.2), exact("0.3"));
  assert.equal(exact(1e-7), exact("0.0000001"));
  assert.equal(exact(5e-324) > 0n, true);
  assert.equal(exact("1e3"), exact(1000));
  assert.equal(exact(`0.${"0".repeat(98)}1e-999`), 100n); // the smallest that may be written, as a whole number
  assert.equal(exact("1e999") / exact("1e998"), 10n);
  for (const number of [0.1, 1, 1e-6, 123.456, 5e-324, 1e6, 1.7976931348623157e308]) assert.equal(shown(exact(number)), number);
  assert.equal(shown(undefined), null);
});

test("what is no decimal number is refused by its name", () => {
  for (const value of [-1, NaN, Infinity, "", "1/3", "0x10", " 1", null, undefined, {}, "1.5.", ".5", "1e1000", "1e-1000", "1e99999999999",
    `0.${"1".repeat(100)}`]) {
    assert.throws(() => exact(value, "maximumChain"), /^HushError: maximumChain must be decimals/);
  }
});

test("fresh reports add up", () => {
  assert.equal(cost(LOSS, 0, false), 0n);
  assert.equal(cost(LOSS, 10, false), exact(1));
  assert.equal(cost(LOSS, 10, true), exact(1));
});

test("kept answers cost what fresh noise hides, or what each value's answer does", () => {
  const known = [0, 1, 2, 3, 4, 9].map((answers) => shown(cost(KEPT, answers, true)));
  const unknown = [0, 1, 2, 3, 4].map((answers) => shown(cost(KEPT, answers, false)));
  assert.deepEqual(unknown, [0, 0.5, 1.75, 3, 4.25]);
  assert.deepEqual(known, [0, 0.5, 1.75, 3, 3, 3]);
  assert.deepEqual([1, 2, 7].map((answers) => shown(cost({ ...KEPT, permanent: 0.7 }, answers, true))), [0.5, 1.4, 2.1]);
});

test("without fresh noise nothing bounds a second answer, unless times are known", () => {
  const loss = { ...KEPT, fresh: Infinity };
  assert.equal(shown(cost(loss, 1, false)), 0.5);
  assert.equal(cost(loss, 2, false), undefined);
  assert.equal(shown(cost(loss, 2, true)), 2);
  assert.equal(cost({ ...loss, kept: undefined }, 2, true), undefined);
  assert.equal(sum([of(LOSS, 1), of(loss, 2)], false), undefined);
});

test("an answer beyond a limit is refused, and the limit is named", () => {
  const tenth = { ...LIMITS, maximumChain: 1 };
  const own = of(LOSS, 9);
  charge([own], own, "a", tenth);
  assert.equal(own.answers.a, 10);
  assert.throws(() => charge([own], own, "a", tenth), /maximumChain must be at least 1\.1 for an answer, got 1/);
  const both = () => [of(LOSS, 9), of({ ...LOSS, declared: 1.8 }, 1, ["b"])];
  const charged = (limits, [own, other] = both()) => charge([own, other], own, "a", { ...LIMITS, ...limits });
  assert.throws(() => charged({ maximumTotal: "2.7" }), /maximumTotal must be at least 2\.8/);
  charged({ maximumTotal: "2.8", maximumChain: 1 });
  const costly = of(KEPT, 1);
  assert.throws(() => charge([costly], costly, "a", { ...LIMITS, maximum: 1.2 }), /maximum must be at least 1\.25/);
});

test("deltas add up, too", () => {
  const own = of({ ...LOSS, delta: 1e-6 }, 2);
  assert.equal(shown(deltas([own, of(LOSS, 5)])), 2e-6);
  charge([own], own, "a", { ...LIMITS, delta: 3e-6 });
  assert.throws(() => charge([own], own, "a", { ...LIMITS, delta: 3e-6 }), /delta must be at least 0\.000004/);
});

test("what nothing bounds is refused in words that say what to do", () => {
  const own = of({ ...KEPT, fresh: Infinity, declared: 1 }, 1);
  assert.throws(() => charge([own], own, "a", LIMITS), /loss must have a bound, got none; or pass timesKnown/);
  const known = of({ ...KEPT, fresh: Infinity, declared: 1 }, 1);
  charge([known], known, "a", { ...LIMITS, timesKnown: true });
});

test("what one answer loses needs consent", () => {
  consent(LOSS, LIMITS);
  assert.throws(() => consent({ ...LOSS, declared: 2.1 }, LIMITS), /maximum must be at least 2\.1 for an answer, got 2/);
  assert.throws(() => consent({ ...LOSS, delta: 1e-5 }, LIMITS), /delta must be at least 0\.00001/);
  consent({ ...LOSS, delta: 1e-5 }, { ...LIMITS, delta: 1e-5 });
  assert.throws(() => consent({ ...LOSS, unprotected: 3 }, LIMITS), /protect every value, got 3 exceptions; or pass unprotected/);
  consent({ ...LOSS, unprotected: 3 }, { ...LIMITS, unprotected: true });
});
