import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { afterEach, test } from "node:test";

import { prepared } from "../src/mechanisms.js";
import { below, bounded, reduced, replayed, secureWords, upper } from "../src/words.js";

const source = new URL("../src/", import.meta.url);
const stored = JSON.parse(readFileSync(new URL("../../../tests/golden/replays.json", import.meta.url), "utf-8"));
const { random } = Math;
const { getRandomValues } = crypto;

afterEach(() => {
  Math.random = random;
  crypto.getRandomValues = getRandomValues;
});

test("no source names Math.random", () => {
  const files = readdirSync(source, { recursive: true }).filter((name) => name.endsWith(".js"));
  assert.ok(files.includes("words.js"));
  for (const name of files) assert.doesNotMatch(readFileSync(new URL(name, source), "utf-8"), /Math\s*(\.|\[\W*)\s*random/, name);
});

test("no mechanism calls Math.random", () => {
  Math.random = () => assert.fail("Math.random was called");
  const words = secureWords();
  for (const { spec, values } of Object.values(stored.replays)) {
    const mechanism = prepared(spec);
    const made = mechanism.draw(values[0], words);
    assert.equal((made.report ?? made).length, mechanism.size);
  }
});

test("secure words come in blocks that one call gives, and are wiped as they are used", () => {
  const sizes = [];
  let block;
  crypto.getRandomValues = (halves) => {
    sizes.push(halves.byteLength);
    block = halves;
    return getRandomValues.call(crypto, halves);
  };
  const words = secureWords();
  assert.deepEqual(sizes, []); // nothing is fetched before it is needed
  const seen = new Set();
  for (let i = 0; i < 20_000; i++) {
    words.next();
    seen.add(words.hi * 2 ** 21 + (words.lo >>> 11));
    if (i === 9) assert.ok(block.subarray(0, 20).every((half) => half === 0) && block.subarray(20).some((half) => half));
  }
  assert.ok(sizes.every((size) => size <= 65_536) && sizes.length >= 3);
  assert.equal(seen.size, 20_000); // of 2^53: two alike once in 10^8 runs
});

test("after a report no word of it is left", () => {
  const words = replayed(Uint32Array.from({ length: 200 }, (_, i) => 1000 + i));
  prepared(stored.replays["GRR k=10 epsilon=1.0"].spec).draw(3, words);
  assert.deepEqual([words.hi, words.lo], [0, 0]);
});

test("a word is compared as a whole", () => {
  const threshold = { hi: 5, lo: 7 };
  const is = (hi, lo) => below(replayed(Uint32Array.of(lo, hi)), threshold);
  assert.deepEqual([is(5, 6), is(5, 7), is(4, 2 ** 32 - 1), is(6, 0)], [true, false, true, false]);
  assert.ok(below(replayed(Uint32Array.of(2 ** 32 - 1, 2 ** 32 - 1)), { hi: 2 ** 32, lo: 0 }));
});

test("products and draws are those of integers", () => {
  const some = [0, 1, 2, 3, 65535, 65536, 65537, 0x9e3779b1, 2 ** 31, 2 ** 32 - 1, 4_000_000_007];
  for (const a of some) {
    for (const b of some) {
      const product = BigInt(a) * BigInt(b);
      assert.equal(upper(a, b), Number(product >> 32n), `${a} ${b}`);
      if (!b) continue;
      const rejected = (product & 0xffffffffn) < 2n ** 32n % BigInt(b);
      assert.equal(reduced(a, b), rejected ? -1 : Number(product >> 32n), `${a} ${b}`);
    }
  }
  assert.equal(bounded(replayed(Uint32Array.of(9, 0, 9, 2 ** 31 + 1)), 10), 5); // a half of zero is drawn again
});

test("replayed words end", () => {
  const given = Uint32Array.of(1, 2);
  const words = replayed(given);
  words.next();
  assert.throws(() => words.next(), /^RangeError: words must suffice, got too few; /);
  assert.deepEqual([...given], [1, 2]);
});
