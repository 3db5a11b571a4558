/**
 * How fast reports are made: by the second, one at a time, and how long tables take. Prints JSON.
 *
 *     python clients/javascript/bench/specs.py | node clients/javascript/bench/speed.js
 */

import { readFileSync } from "node:fs";

import { prepared } from "../src/mechanisms.js";
import { secureWords } from "../src/words.js";

const specs = JSON.parse(readFileSync(0, "utf-8"));
const words = secureWords();

/** Any value of a mechanism. */
const value = (mechanism, i) => (mechanism.k ? (i * 7919) % mechanism.k : i % 100);

/** Calls by the second: the best of some runs of a fifth of a second each. */
function perSecond(call) {
  let best = 0;
  for (let run = 0; run < 12; run++) {
    let calls = 0;
    const start = performance.now();
    while (performance.now() - start < 200) for (let i = 0; i < 256; i++) call(calls++);
    best = Math.max(best, (1000 * calls) / (performance.now() - start));
  }
  return Math.round(best);
}

/** Unary bits as programs usually draw them: a double for each bit, from a generator that is not secure. */
function plainBits(k, p, q) {
  return (own) => {
    const bytes = new Uint8Array((k + 7) >> 3);
    for (let bit = 0; bit < k; bit++) if (Math.random() < (bit === own ? p : q)) bytes[bit >> 3] |= 1 << (bit & 7);
    return bytes;
  };
}

const many = {};
for (const [name, spec] of Object.entries(specs.many)) {
  const mechanism = prepared(spec);
  many[name] = perSecond((i) => mechanism.draw(value(mechanism, i), words));
}
const plain = plainBits(128, 0.5, 1 / (Math.E + 1));
many["plain bits by Math.random, k=128"] = perSecond((i) => plain(i % 128));

/** Times of single reports, in milliseconds, after a few that warm the engine up. */
function times(mechanism, count, warm) {
  const found = [];
  for (let i = -warm; i < count; i++) {
    const start = performance.now();
    mechanism.draw(value(mechanism, Math.abs(i)), words);
    if (i >= 0) found.push(performance.now() - start);
  }
  return found.sort((a, b) => a - b);
}

const large = {};
for (const [name, spec] of Object.entries(specs.large)) {
  const builds = [];
  let mechanism;
  for (let i = 0; i < 5; i++) {
    const start = performance.now();
    mechanism = prepared(spec);
    builds.push(performance.now() - start);
  }
  const [first] = times(mechanism, 1, 0);
  const single = times(mechanism, 500, 20);
  const rounded = (x) => Number(x.toPrecision(3));
  large[name] = {
    first: rounded(first),
    median: rounded(single[250]),
    p99: rounded(single[494]),
    prepared: rounded(builds.sort((a, b) => a - b)[2]),
    prepared_first: rounded(Math.max(...builds)),
  };
}

const { node, v8 } = process.versions;
console.log(JSON.stringify({ node, v8, reports_per_second: many, milliseconds: large }, null, 1));
