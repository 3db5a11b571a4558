import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import test from "node:test";

import { hex, unhex } from "../src/bytes.js";
import { body, checkBuild, opened, sealed } from "../src/envelope.js";
import { HushError } from "../src/errors.js";
import { golden } from "./golden.js";

const { good, wrong } = golden("envelopes");

for (const [name, { bytes, digest, sent, records, spec_hash, ...rest }] of Object.entries(good)) {
  test(`an envelope with ${name} is the one that Python makes`, () => {
    const made = sealed({ ...rest, hash: spec_hash, records: Uint8Array.from(unhex(records)) });
    assert.equal(hex(made), bytes);
    assert.equal(createHash("sha256").update(made).digest("hex"), digest);
    assert.equal(hex(body("key-1", made)), sent);
    assert.deepEqual(opened(made), { ...rest, hash: spec_hash, records: Uint8Array.from(unhex(records)) });
  });
}

for (const [name, bytes] of Object.entries(wrong)) {
  test(`an envelope with ${name} is refused`, () => {
    assert.throws(() => opened(Uint8Array.from(unhex(bytes))), HushError);
  });
}

test("a key is ASCII that can be seen, and not too long", () => {
  assert.equal(hex(body("", new Uint8Array([7]))), "0007");
  assert.equal(body("k".repeat(64), new Uint8Array()).length, 65);
  for (const key of ["k".repeat(65), "schlüssel", "a\n"]) assert.throws(() => body(key, new Uint8Array()), /^HushError: key must/);
});

test("a build is a few plain letters", () => {
  for (const build of ["", "a", "shop-app/3.1", `A${"9".repeat(63)}`]) checkBuild(build);
  for (const build of [" a", "/a", "ä", `A${"9".repeat(64)}`, "a\n"]) {
    assert.throws(() => checkBuild(build), /^HushError: build must/);
  }
});
