import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { prepared } from "../src/mechanisms.js";
import { secureWords } from "../src/words.js";
import { hexOf } from "./vectors.js";

const { laws } = JSON.parse(readFileSync(new URL("../../../tests/golden/replays.json", import.meta.url), "utf-8"));
const REPORTS = 100_000;
const FALSE_ALARM = 1e-9; // that an honest sampler fails a test

/** How likely chi-square is at least this: the upper incomplete gamma function, by its continued fraction. */
function chance(statistic, freedom) {
  const a = freedom / 2;
  const x = statistic / 2;
  if (x < a + 1) return 1; // no reason for an alarm, and where the fraction settles slowly
  let logGamma = freedom % 2 ? Math.log(Math.PI) / 2 : 0;
  for (let i = freedom % 2 ? 0.5 : 1; i < a; i++) logGamma += Math.log(i);
  let fraction = 0;
  for (let n = 1000; n > 0; n--) fraction = (n * (a - n)) / (x + 2 * n + 1 - a + fraction);
  return Math.exp(a * Math.log(x) - x - logGamma) / (x + 1 - a + fraction);
}

/** Chi-square of counted reports against their probabilities; an impossible report is infinitely far off. */
function distance(counts, law) {
  let statistic = 0;
  for (const [report, probability] of Object.entries(law)) {
    const due = REPORTS * probability;
    statistic += ((counts.get(report) ?? 0) - due) ** 2 / due;
    counts.delete(report);
  }
  return counts.size ? Infinity : statistic;
}

function counted(draw) {
  const counts = new Map();
  for (let i = 0; i < REPORTS; i++) {
    const report = draw();
    counts.set(report, (counts.get(report) ?? 0) + 1);
  }
  return counts;
}

test("chances are those of chi-square", () => {
  const due = [[10.827566, 1, 1e-3], [37.324893, 1, 1e-9], [41.446532, 2, 1e-9], [107.9, 31, 1.954425e-10], [957.6, 681, 1.146549e-11]]; // as SciPy has them
  for (const [statistic, freedom, probability] of due) {
    assert.ok(Math.abs(chance(statistic, freedom) / probability - 1) < 1e-6, `${statistic}: ${chance(statistic, freedom)}`);
  }
});

for (const [name, { spec, value, law }] of Object.entries(laws)) {
  const possible = Object.fromEntries(Object.entries(law).filter(([, probability]) => probability > 0));
  const freedom = Object.keys(possible).length - 1;

  test(`${name} has its law; a false alarm comes once in 10^9 tests`, () => {
    const words = secureWords();
    const mechanism = prepared(spec);
    const draw = () => {
      const made = mechanism.draw(value, words);
      return hexOf(made.report ?? made);
    };
    const statistic = distance(counted(draw), possible);
    assert.ok(chance(statistic, freedom) > FALSE_ALARM, `chi-square is ${statistic} at ${freedom} degrees of freedom`);
  });

  test(`${name} of another value has another law`, () => {
    const words = secureWords();
    const mechanism = prepared(spec);
    const draw = () => {
      const made = mechanism.draw(value - 1, words);
      return hexOf(made.report ?? made);
    };
    assert.ok(chance(distance(counted(draw), possible), freedom) < FALSE_ALARM);
  });
}
