import assert from "node:assert/strict";
import test from "node:test";

import { reader } from "../src/domain.js";

test("an answer means the label that it equals, or that is written alike", () => {
  const code = reader({ size: 5, labels: ["cat", 7, "8", "7", "true"] }, 5);
  assert.deepEqual(["cat", 7, "7", 8, "8", true].map(code), [0, 1, 3, 2, 2, 4]);
});

test("what means no label is refused, and not repeated", () => {
  const code = reader({ size: 3, labels: ["cat", "null", "undefined"] }, 3);
  for (const value of ["dog", "Cat", null, undefined, 0, NaN, {}]) {
    assert.throws(() => code(value), { message: "value must be a label, got another; see labels" });
  }
});

test("or it is other, where the domain has that", () => {
  const code = reader({ size: 3, labels: ["cat", "dog", "other"], other: "other" }, 3);
  assert.deepEqual(["dog", "axolotl", null, undefined, "other"].map(code), [1, 2, 2, 2, 2]);
});

test("without labels it is an integer", () => {
  for (const domain of [undefined, { size: 12 }]) {
    const code = reader(domain, 12);
    assert.deepEqual([0, 11, "3"].map(code), [0, 11, 3]);
    for (const value of [12, -1, 1.5, "", null, undefined, "x", "1e0", true]) {
      assert.throws(() => code(value), /value must be an integer in 0\.\.11/);
    }
  }
});

test("a domain that is not of k different values is refused", () => {
  for (const domain of [{ size: 2 }, { size: 3, labels: ["a", "b"] }, { size: 3, labels: ["a", "b", "a"] }]) {
    assert.throws(() => reader(domain, 3), /domain must fit the other entries/);
  }
});
