import assert from "node:assert/strict";
import test from "node:test";

import { asked, backoff, left, now, replied } from "../src/wire.js";
import { answer, problem } from "./scripted.js";

const SENT = { batch: "b".repeat(32), period: 3 };
const OURS = { ...SENT, accepted: 1 };

/** What becomes of the batch. @param {Response} response */
async function fate(response) {
  globalThis.fetch = async () => response;
  const { state, reason, alone } = replied(SENT, await asked("https://collector.example", 1 << 16));
  return [state, reason, alone];
}

test("only an answer that names the very batch accepts it", async () => {
  assert.deepEqual(await fate(answer(200, OURS)), ["accepted", "", true]);
  const others = [{ ...OURS, batch: "c".repeat(32) }, { ...OURS, period: 4 }, { ...OURS, accepted: 2 }, { ...OURS, accepted: 0 },
    { ...OURS, accepted: true }, { ...OURS, refused: [{ index: 0, reason: "record" }] }, {}, [], null, 7, "yes", "<html>log in</html>"];
  for (const told of others) assert.deepEqual(await fate(answer(200, told)), ["waiting", "not-a-collector", false]);
  assert.deepEqual(await fate(answer(201, OURS)), ["waiting", "status-201", false]);
});

const TABLE = [
  [400, "malformed", "dropped", true], [422, "parameter", "dropped", true], [422, "record", "dropped", true],
  [409, "conflict", "dropped", true], [409, "spec", "dropped", true], [409, "status", "dropped", true],
  [410, "period-past", "dropped", true], [413, "too-large", "waiting", true], [401, "token", "waiting", false],
  [403, "forbidden", "waiting", false], [404, "unknown", "waiting", false], [422, "period-ahead", "waiting", true],
  [408, "slow", "waiting", true], [400, "interrupted", "waiting", true], [429, "rate", "waiting", false],
  [503, "busy", "waiting", false], [503, "store", "waiting", false], [500, "internal", "waiting", true],
]; // as in docs/collector-client.md

for (const [status, reason, state, alone] of TABLE) {
  test(`what is refused with ${reason} is ${state}`, async () => {
    assert.deepEqual(await fate(problem(status, reason)), [state, reason, alone]);
  });
}

test("a refusal in anyone else's words leaves the batch waiting", async () => {
  assert.deepEqual(await fate(answer(400, { status: 400, reason: "malformed" })), ["waiting", "status-400", true]);
  assert.deepEqual(await fate(problem(400, "Malformed!")), ["waiting", "status-400", true]);
  const of = { "content-type": "application/problem+json" };
  assert.deepEqual(await fate(answer(409, { status: 400, reason: "spec" }, of)), ["waiting", "status-409", true]);
  assert.deepEqual(await fate(answer(413, "<html>")), ["waiting", "too-large", true]);
  for (const status of [429, 502, 503, 504]) {
    assert.deepEqual(await fate(answer(status, "<html>")), ["waiting", `status-${status}`, false]);
  }
});

test("no answer, a redirect, or one that is too long leaves it waiting", async () => {
  assert.deepEqual(await fate(answer(200, { ...OURS, more: "x".repeat(1 << 16) })), ["waiting", "unreachable", false]);
  globalThis.fetch = async () => {
    throw new TypeError("unexpected redirect");
  };
  const told = replied(SENT, await asked("https://collector.example", 9));
  assert.deepEqual(told, { state: "waiting", reason: "unreachable", alone: false });
});

test("what is asked says nothing of the page or the person", async () => {
  let asks;
  globalThis.fetch = async (url, init) => {
    asks = init;
    return answer(200, {});
  };
  await asked("https://collector.example", 9);
  const { signal, ...rest } = asks;
  assert.deepEqual(rest, { credentials: "omit", referrerPolicy: "no-referrer", redirect: "error", cache: "no-store" });
  assert.ok(signal instanceof AbortSignal);
});

test("a server may ask to wait, in seconds or with a date, for a day at most", async () => {
  const waits = async (said) => {
    globalThis.fetch = async () => problem(503, "busy", { "retry-after": said });
    return (await asked("https://collector.example", 999)).wait;
  };
  assert.equal(await waits("17"), 17);
  assert.equal(await waits("9999999"), 86_400);
  for (const odd of ["-3", "soon", "", "Thu, 01 Jan 1970 00:00:00 GMT"]) assert.equal(await waits(odd), 0);
  const then = await waits(new Date(Date.now() + 100_000).toUTCString());
  assert.ok(then > 90 && then <= 100, String(then));
});

test("waits double up to an hour, are random, and no shorter than what is asked for", () => {
  for (const [tries, wait, longest] of [[0, 0, 1], [3, 0, 8], [40, 0, 3600], [0, 20, 20], [9, 20, 512]]) {
    const drawn = Array.from({ length: 200 }, () => backoff(tries, wait));
    assert.ok(Math.min(...drawn) >= wait && Math.max(...drawn) <= wait + longest);
    assert.ok(Math.max(...drawn) - Math.min(...drawn) > longest / 2); // by chance less once in 10^50 times
  }
});

test("a clock that was set back makes nobody wait for ever", () => {
  assert.ok(left(now() + 10) > 9);
  assert.equal(left(now() - 1), 0);
  assert.equal(left(now() + 4 * 86_400), 0);
  assert.equal(left(0), 0);
});
