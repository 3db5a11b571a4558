import assert from "node:assert/strict";
import test from "node:test";

import { hashed, hex, sha256 } from "../src/bytes.js";
import { offered } from "../src/book.js";
import { opened } from "../src/envelope.js";
import { HushError, join } from "../src/hush.js";
import { answer, COIN, ID, memoryStore, problem, Scripted, URL_OF } from "./scripted.js";

const OTHER = "f".repeat(32);
const busy = () => problem(503, "busy", { "retry-after": "1000" });
/** Let what waits be due in an hour, without the server having asked for that. @param {any} store */
const postpone = (store) =>
  store.update((state) => ({ ...state, waiting: state.waiting.map((each) => ({ ...each, due: Date.now() / 1000 + 3000 })) }));
const at = (id) => `https://collector.example/v1/collections/${id}`;

test("an answer is made once, stored, sent, and acknowledged", async () => {
  const server = await Scripted.of();
  const store = memoryStore();
  const collection = await join(URL_OF, { store, key: "key-1" });
  assert.deepEqual(
    [collection.id, collection.name, collection.status, collection.period, collection.labels, collection.loss.declared],
    [ID, "coins", "open", 0, ["heads", "tails"], 1],
  );
  assert.equal(collection.hash, await hashed(COIN));
  assert.equal(await store.read(), undefined); // nothing is stored by joining
  const receipt = await collection.answer("heads");
  assert.deepEqual([receipt.collection, receipt.period, receipt.state, receipt.reason], [ID, 0, "accepted", ""]);
  const [{ url, init, body }] = server.sent;
  assert.equal(url, `${URL_OF}/batches`);
  assert.deepEqual(
    [init.method, init.credentials, init.referrerPolicy, init.redirect, init.cache, init.keepalive, init.headers],
    ["POST", "omit", "no-referrer", "error", "no-store", true, { "Content-Type": "text/plain" }],
  );
  assert.equal(hex(body), `05${hex(new TextEncoder().encode("key-1"))}${hex(receipt.envelope)}`);
  const { records, ...head } = opened(receipt.envelope);
  assert.deepEqual(head, { collection: ID, hash: collection.hash, batch: receipt.batch, period: 0, build: "hush-js/0.2.0.dev0", size: 1 });
  assert.ok(records[0] < 2);
  assert.equal((await store.read()).waiting.length, 0);
});

test("a spec is read once, so that its tables are built once", async (t) => {
  await Scripted.of();
  const whole = BigInt;
  t.after(() => Object.assign(globalThis, { BigInt: whole }));
  let read = 0;
  const counting = (found) => {
    if (found === COIN.mechanism.thresholds.keep) read++;
    return whole(found);
  };
  Object.assign(globalThis, { BigInt: counting });
  await join(URL_OF, { store: memoryStore() });
  assert.equal(read, 1);
});

test("asked again in the period it gives the first receipt, and another value is refused", async () => {
  const server = await Scripted.of();
  const store = memoryStore();
  const collection = await join(URL_OF, { store });
  const first = await collection.answer("heads");
  assert.deepEqual(await collection.answer("heads"), { ...first, envelope: undefined });
  const again = await (await join(URL_OF, { store })).answer("heads");
  assert.deepEqual([again.batch, again.state, again.envelope], [first.batch, "accepted", undefined]);
  await assert.rejects(collection.answer("tails"), /value must be the first of this period, got another; ask in the next one/);
  assert.equal(server.sent.length, 1);
  assert.deepEqual(await collection.spent(), { collection: 1, chain: 1, total: 1, delta: 0, answers: 1 });
});

test("answers at the same time are one", async () => {
  const server = await Scripted.of();
  const store = memoryStore();
  const tabs = await Promise.all([join(URL_OF, { store }), join(URL_OF, { store })]);
  const [one, two] = await Promise.all(tabs.map((tab) => tab.answer("tails")));
  assert.equal(one.batch, two.batch);
  assert.equal(server.taken.size, 1);
  assert.equal((await tabs[0].spent()).answers, 1);
});

test("the next period takes another answer, and a period never goes back", async () => {
  const server = await Scripted.of();
  const store = memoryStore();
  await (await join(URL_OF, { store })).answer("heads");
  server.view.period = 5;
  const later = await join(URL_OF, { store });
  const second = await later.answer("tails");
  assert.deepEqual([second.period, second.state, second.told], [5, "accepted", undefined]);
  server.view.period = 2;
  const back = await join(URL_OF, { store });
  assert.deepEqual([back.period, back.told], [5, 2]);
  assert.deepEqual([(await back.answer("tails")).batch, (await back.answer("tails")).told], [second.batch, 2]);
  await assert.rejects(back.answer("heads"), /first of this period/);
  assert.equal((await back.spent()).total, 2);
});

test("what was answered is forgotten when its period is over, or the collection closed", async () => {
  const server = await Scripted.of();
  for (const change of [{ period: 1 }, { status: "closed" }]) {
    Object.assign(server.view, { period: 0, status: "open" });
    const store = memoryStore();
    await (await join(URL_OF, { store })).answer("heads");
    assert.match((await store.read()).collections[ID].answered.tag, /^[0-9a-f]{64}$/);
    Object.assign(server.view, change);
    await join(URL_OF, { store });
    assert.equal((await store.read()).collections[ID].answered.tag, "");
  }
});

test("limits refuse before anything is drawn or spent", async () => {
  const server = await Scripted.of();
  const store = memoryStore();
  const limited = { store, maximumChain: 2 };
  for (const period of [0, 1, 2]) {
    server.view.period = period;
    const collection = await join(URL_OF, limited);
    if (period < 2) await collection.answer("heads");
    else await assert.rejects(collection.answer("heads"), /maximumChain must be at least 3 for an answer, got 2/);
  }
  assert.equal(server.taken.size, 2);
  const collection = await join(URL_OF, limited);
  assert.deepEqual(await collection.spent(), { collection: 2, chain: 2, total: 2, delta: 0, answers: 2 });
  await assert.rejects(join(URL_OF, { store, maximum: 0.5 }), /maximum must be at least 1 for an answer, got 0.5/);
});

test("a chain is one account, whatever is told later", async () => {
  const server = await Scripted.of();
  const store = memoryStore();
  await (await join(URL_OF, { store })).answer("heads");
  Object.assign(server.view, { id: OTHER, chain: [OTHER, ID] });
  const next = await join(at(OTHER), { store, maximumChain: 2 });
  await next.answer("heads");
  assert.deepEqual(await next.spent(), { collection: 1, chain: 2, total: 2, delta: 0, answers: 1 });
  Object.assign(server.view, { chain: [OTHER], period: 1 });
  const forgetful = await join(at(OTHER), { store, maximumChain: 2 });
  await assert.rejects(forgetful.answer("heads"), /maximumChain must be at least 3/);
  assert.equal((await forgetful.spent()).chain, 2);
});

test("collections that are not linked share the total alone", async () => {
  const server = await Scripted.of();
  const store = memoryStore();
  await (await join(URL_OF, { store })).answer("heads");
  Object.assign(server.view, { id: OTHER, chain: [OTHER] });
  const other = await join(at(OTHER), { store });
  await other.answer("heads");
  assert.deepEqual(await other.spent(), { collection: 1, chain: 1, total: 2, delta: 0, answers: 1 });
  Object.assign(server.view, { period: 1 });
  const limited = await join(at(OTHER), { store, maximumTotal: 2 });
  await assert.rejects(limited.answer("heads"), /maximumTotal must be at least 3/);
});

test("a spec is held to its hash, to the pinned one, and to the one it was", async () => {
  const server = await Scripted.of();
  const store = memoryStore();
  await assert.rejects(join(URL_OF, { store, spec: "0".repeat(64) }), /spec must have the hash 0000/);
  await join(URL_OF, { store, spec: await hashed(COIN) });
  server.view.spec_hash = "1".repeat(64);
  await assert.rejects(join(URL_OF, { store }), /spec must have the hash 1111/);
  server.view.spec_hash = await hashed(COIN);
  await (await join(URL_OF, { store })).answer("heads");
  server.view.spec = { ...COIN, domain: { size: 2, labels: ["tails", "heads"] } };
  server.view.spec_hash = await hashed(server.view.spec);
  await assert.rejects(join(URL_OF, { store }), /spec must have the hash .*report nothing to it/);
});

test("a spec that a page was shown stays, before the first answer, too", async (t) => {
  const server = await Scripted.of();
  const collection = await join(URL_OF, { store: memoryStore() });
  const { hash } = collection;
  const other = { ...COIN, mechanism: { ...COIN.mechanism, epsilon: 1.5 } };
  Object.assign(server.view, { spec: other, spec_hash: await hashed(other) });
  const later = performance.now() + 61_000; // when the server is asked again
  t.mock.method(performance, "now", () => later);
  await assert.rejects(collection.answer("heads"), new RegExp(`spec must have the hash ${hash}, got`));
  assert.deepEqual([server.sent.length, collection.hash, collection.loss.declared], [0, hash, 1]);
});

test("what a page does to its labels changes no answer", async () => {
  const spec = { ...COIN, domain: { size: 2, labels: ["tails", "heads"] } };
  const server = await Scripted.of(spec);
  const store = memoryStore();
  for (let period = 0; period < 8; period++) {
    server.view.period = period;
    const collection = await join(URL_OF, { store });
    collection.labels.sort();
    assert.deepEqual(collection.labels, ["heads", "tails"]);
    const coded = await hashedAnswer(store, collection, "tails");
    assert.equal(coded, 0);
    assert.equal(await hashed(collection.spec), collection.hash);
  }
  server.away = true;
  assert.deepEqual((await join(URL_OF, { store })).labels, ["tails", "heads"]); // and what is kept is as it was
});

/** Which of the values an answer was entered as. @param {any} store @param {any} collection @param {string} value */
async function hashedAnswer(store, collection, value) {
  await collection.answer(value);
  const { salt, tag } = (await store.read()).collections[ID].answered;
  const tags = await Promise.all([0, 1].map((coded) => sha256(salt + coded)));
  return tags.indexOf(tag);
}

test("a mechanism's tables are built once", async () => {
  const { view } = await Scripted.of();
  let reads = 0;
  const mechanism = {
    ...COIN.mechanism,
    get k() {
      reads++;
      return 2;
    },
  };
  const spec = { ...COIN, mechanism };
  await hashed(spec);
  assert.equal(reads, 1);
  await offered({ ...view, spec }, ID, undefined);
  assert.equal(reads, 3); // for its hash, and for its tables
});

test("a server that declares less than its thresholds lose is refused", async () => {
  const hostile = { ...COIN, mechanism: { ...COIN.mechanism, thresholds: { keep: "18446744035687978324" } } }; // of 20
  await Scripted.of(hostile);
  await assert.rejects(join(URL_OF, { store: memoryStore() }), HushError);
});

test("what no collector tells is refused", async () => {
  const server = await Scripted.of();
  const right = server.view;
  const odd = [{ id: OTHER }, { period: -1 }, { period: 0.5 }, { period: 2 ** 31 }, { period: "0" }, { chain: [] }, { chain: [OTHER] },
    { chain: [ID, "x"] }, { chain: ID }, { chain: undefined }, { chain: [ID, ...Array(1000).fill(OTHER)] }];
  for (const change of odd) {
    server.view = { ...right, ...change };
    await assert.rejects(join(URL_OF, { store: memoryStore() }), /collection must be known here, got another; report nothing to it/);
  }
  for (const spec of [{ hush: 1, multidim: {} }, { hush: 3, mechanism: {}, domain: {} }, { hush: 1, mechanism: {} }]) {
    server.view = { ...right, spec, spec_hash: await hashed(spec) };
    await assert.rejects(join(URL_OF, { store: memoryStore() }), /spec must be known here/);
  }
  const refusal = /^HushError: (spec|mechanism|thresholds|domain) must .+, got .+; report nothing to it$/;
  const { mechanism } = COIN;
  for (const spec of [null, 5, "spec", [], { ...COIN, domain: { size: 2, labels: { length: 2 } } }, { ...COIN, domain: 7 }, { mechanism }]) {
    server.view = { ...right, spec, spec_hash: await hashed(spec) };
    await assert.rejects(join(URL_OF, { store: memoryStore() }), refusal);
  }
  const deep = "[".repeat(100_000) + "]".repeat(100_000);
  server.view = answer(200, JSON.stringify(right).replace(/"spec":{.*}},/, `"spec":${deep},`));
  await assert.rejects(join(URL_OF, { store: memoryStore() }), refusal);
});

test("a collection that is known stays where it is, unless it may move", async () => {
  const server = await Scripted.of();
  const store = memoryStore();
  server.refuse = () => problem(503, "busy");
  await (await join(URL_OF, { store })).answer("heads");
  await postpone(store);
  server.refuse = () => undefined;
  const elsewhere = `https://other.example/v1/collections/${ID}`;
  await assert.rejects(join(elsewhere, { store }), /url must begin with https:\/\/collector\.example, got https:\/\/other/);
  const moved = await join(elsewhere, { store, moved: true });
  const { waiting } = await moved.flush();
  assert.equal(waiting, 1); // until its time
  server.view.period = 1;
  const next = await (await join(elsewhere, { store })).answer("heads");
  assert.equal(next.state, "waiting"); // behind the first one
  assert.equal((await moved.spent()).total, 2);
});

test("without a server the period that it told last goes on, and the bytes wait as they are", async () => {
  const server = await Scripted.of();
  const store = memoryStore();
  await (await join(URL_OF, { store })).answer("heads");
  server.view.period = 1;
  await join(URL_OF, { store });
  server.away = true;
  const alone = await join(URL_OF, { store });
  const receipt = await alone.answer("tails");
  assert.deepEqual([receipt.period, receipt.state, receipt.reason], [1, "waiting", "unreachable"]);
  const [kept] = (await store.read()).waiting;
  assert.deepEqual(kept.bytes, receipt.envelope);
  assert.deepEqual([kept.tries, kept.alone], [1, false]);
  assert.ok(kept.due >= kept.asked);
  server.away = false;
  await store.update((state) => {
    state.waiting[0].due = 0;
    return state;
  });
  const back = await join(URL_OF, { store });
  const delivered = await back.flush();
  assert.equal(delivered.waiting, 0);
  assert.deepEqual(server.taken.get(receipt.batch), receipt.envelope);
  assert.equal((await back.answer("tails")).state, "accepted");
});

test("a page that is open for long asks again, and goes on with what it knows where nobody answers", async (t) => {
  const server = await Scripted.of();
  const collection = await join(URL_OF, { store: memoryStore() });
  const later = performance.now() + 61_000;
  t.mock.method(performance, "now", () => later);
  server.away = true;
  const receipt = await collection.answer("heads");
  assert.deepEqual([receipt.period, receipt.reason], [0, "unreachable"]);
  server.away = false;
  server.view.period = 1;
  performance.now.mock.mockImplementation(() => later + 61_000);
  assert.equal((await collection.answer("tails")).period, 1);
  assert.equal(collection.period, 1);
  collection.close();
});

test("a server that was never reached is told of in words", async () => {
  const server = await Scripted.of();
  server.away = true;
  await assert.rejects(join(URL_OF, { store: memoryStore() }), /url must lead to a collection, got status 0; try again later/);
  server.away = false;
  server.view = problem(404, "unknown");
  await assert.rejects(join(URL_OF, { store: memoryStore() }), /got unknown/);
});

test("it waits as long as the server asks, and others wait behind", async () => {
  const server = await Scripted.of();
  const store = memoryStore();
  server.refuse = busy;
  const collection = await join(URL_OF, { store });
  const first = await collection.answer("heads");
  assert.deepEqual([first.state, first.reason], ["waiting", "busy"]);
  server.refuse = () => undefined;
  const told = await collection.flush();
  assert.deepEqual([told.accepted, told.waiting, told.reason], [0, 1, "busy"]);
  assert.ok(told.due > 990 && told.due <= 2000, String(told.due));
  const asked = server.views.length;
  const later = await join(URL_OF, { store });
  assert.equal(server.views.length, asked); // nor is it asked for the period
  assert.equal((await later.answer("heads")).batch, first.batch);
  assert.equal(server.sent.length, 1);
  collection.close();
});

test("what is refused for good is dropped, and stays spent", async () => {
  const server = await Scripted.of();
  const store = memoryStore();
  server.refuse = () => problem(410, "period-past");
  const collection = await join(URL_OF, { store });
  const receipt = await collection.answer("heads");
  assert.deepEqual([receipt.state, receipt.reason], ["dropped", "period-past"]);
  assert.equal((await store.read()).waiting.length, 0);
  assert.equal((await collection.answer("heads")).state, "dropped");
  assert.equal((await collection.spent()).total, 1);
});

test("a new key is used for what waits", async () => {
  const server = await Scripted.of(COIN, { needs_key: true });
  const store = memoryStore();
  const collection = await join(URL_OF, { store });
  await assert.rejects(collection.answer("heads"), /key must be given/);
  assert.equal(await store.read(), undefined);
  collection.key = "old";
  server.refuse = () => problem(401, "token");
  assert.equal((await collection.answer("heads")).reason, "token");
  await store.update((state) => ({ ...state, waiting: state.waiting.map((each) => ({ ...each, due: 0 })) }));
  server.refuse = () => undefined;
  collection.key = "new";
  assert.equal((await collection.flush()).accepted, 1);
  const [one, two] = server.sent.map(({ body }) => [String.fromCharCode(...body.slice(1, 4)), hex(body.slice(4))]);
  assert.deepEqual([one[0], two[0]], ["old", "new"]);
  assert.equal(one[1], two[1]);
});

test("a report that is too long to outlive its page is sent all the same", async () => {
  const bits = { p: "9223372036854775808", q: "4961093570831980854" };
  const server = await Scripted.of({ hush: 1, domain: { size: 500_000 }, mechanism: { mechanism: "OUE", k: 500_000, epsilon: 1, thresholds: bits } });
  const collection = await join(URL_OF, { store: memoryStore() });
  assert.equal((await collection.answer(499_999)).state, "accepted");
  assert.deepEqual([server.sent[0].init.keepalive, server.sent[0].body.length > 60_000], [false, true]);
});

test("declining stores, sends and spends nothing", async () => {
  const server = await Scripted.of();
  const store = memoryStore();
  const collection = await join(URL_OF, { store });
  await collection.decline();
  await assert.rejects(collection.answer("heads"), /collection must be open, got declined; join again later/);
  await collection.leave();
  assert.equal(await store.read(), undefined);
  assert.equal(server.sent.length, 0);
});

test("leaving forgets all but what was spent, and one answer a period", async () => {
  const server = await Scripted.of();
  const store = memoryStore();
  server.refuse = busy;
  const collection = await join(URL_OF, { store });
  await collection.answer("heads");
  await collection.leave();
  const { waiting, protocols, collections } = await store.read();
  assert.deepEqual([waiting.length, protocols[0].memory, collections[ID].answered.tag], [0, undefined, ""]);
  await assert.rejects(collection.answer("heads"), /collection must be open, got left/);
  server.refuse = () => undefined;
  const again = await join(URL_OF, { store });
  await assert.rejects(again.answer("heads"), /first of this period/);
  assert.equal((await again.spent()).total, 1);
  server.view.period = 1;
  const next = await join(URL_OF, { store });
  assert.equal((await next.answer("heads")).state, "accepted");
  assert.deepEqual(await next.spent(), { collection: 2, chain: 2, total: 2, delta: 0, answers: 2 });
});

test("what waits has a quota", async () => {
  const server = await Scripted.of();
  const store = memoryStore();
  server.refuse = () => problem(503, "busy");
  await (await join(URL_OF, { store })).answer("heads");
  await postpone(store);
  server.view.period = 1;
  const small = await join(URL_OF, { store, quota: 1 });
  await assert.rejects(small.answer("heads"), /quota must be above 1, got 1; flush\(\) first/);
  assert.equal((await small.spent()).total, 1);
});

test("a store that fails refuses, and nothing is spent or sent", async () => {
  const server = await Scripted.of();
  const full = { read: async () => undefined, update: async () => Promise.reject(new DOMException("no", "QuotaExceededError")) };
  const collection = await join(URL_OF, { store: full });
  await assert.rejects(collection.answer("heads"), /storage must have room, got QuotaExceededError; nothing was spent/);
  assert.equal(server.sent.length, 0);
  const denied = { ...full, read: async () => Promise.reject(new DOMException("no", "SecurityError")) };
  await assert.rejects(join(URL_OF, { store: denied }), /storage must .* got SecurityError/);
});

test("addresses and options that break a rule are refused by name", async () => {
  await Scripted.of();
  const store = memoryStore();
  const wrong = ["", "ftp://a/v1/collections/" + ID, `http://collector.example/v1/collections/${ID}`, `${URL_OF}?x=1`, `${URL_OF}#x`,
    `https://me@collector.example/v1/collections/${ID}`, URL_OF.slice(0, -1), URL_OF.toUpperCase()];
  for (const url of [...wrong, "nonsense", undefined, `${URL_OF}/batches`, URL_OF.replace(ID, "pets")]) {
    await assert.rejects(join(url, { store }), /^HushError: url must be https:\/\/HOST\/v1\/collections\/ID, got .*; copy it$/);
  }
  for (const url of [`${URL_OF}/`, new URL(URL_OF), `http://localhost:8765/v1/collections/${ID}`, `http://[::1]/deep/v1/collections/${ID}`]) {
    await join(url, { store: memoryStore() });
  }
  await assert.rejects(join(URL_OF), /page must have WebCrypto, Web Locks and IndexedDB, got less; use https, or pass a store/);
  await assert.rejects(join(URL_OF, { store, maximums: 1 }), /options must be among .*maximumChain.*, got maximums/);
  await assert.rejects(join(URL_OF, { store, maximumTotal: -1 }), /maximumTotal must be decimals/);
  await assert.rejects(join(URL_OF, { store, maximumTotal: "1e9999999999" }), /maximumTotal must be decimals/);
  for (const build of ["ä", 3.1, {}]) await assert.rejects(join(URL_OF, { store, build }), /^HushError: build must/);
  for (const key of ["ä", 12345, {}]) await assert.rejects(join(URL_OF, { store, key }), /^HushError: key must/);
  await assert.rejects(join(URL_OF, { store, spec: "" }), /spec must have the hash/); // a pin that was lost is no leave
});

test("options that are undefined or null are left out", async () => {
  const server = await Scripted.of();
  const names = ["key", "spec", "maximum", "maximumChain", "maximumTotal", "delta", "unprotected", "timesKnown", "build", "moved", "quota"];
  for (const nothing of [undefined, null]) {
    const store = memoryStore();
    const collection = await join(URL_OF, { store, ...Object.fromEntries(names.map((name) => [name, nothing])) });
    const receipt = await collection.answer("heads");
    assert.deepEqual([receipt.state, opened(receipt.envelope).build], ["accepted", "hush-js/0.2.0.dev0"]);
  }
  assert.equal(server.sent.length, 2);
  const inherited = Object.create({ maximum: 0.5 }); // as of a class
  await assert.rejects(join(URL_OF, Object.assign(inherited, { store: memoryStore() })), /maximum must be at least 1/);
});

test("a key that is no text sends nothing", async () => {
  const server = await Scripted.of();
  const collection = await join(URL_OF, { store: memoryStore() });
  collection.key = 12345;
  assert.equal((await collection.answer("heads")).state, "waiting");
  await assert.rejects(collection.flush(), /^HushError: key must/);
  assert.equal(server.sent.length, 0);
  collection.close();
});

test("an answer to a collection that is not open is refused", async () => {
  for (const status of ["draft", "closed", "odd"]) {
    await Scripted.of(COIN, { status });
    const collection = await join(URL_OF, { store: memoryStore() });
    await assert.rejects(collection.answer("heads"), new RegExp(`collection must be open, got ${status}`));
  }
});

test("nothing draws from Math.random", async () => {
  const before = Math.random;
  Math.random = () => {
    throw new Error("not secure");
  };
  try {
    await Scripted.of();
    assert.equal((await (await join(URL_OF, { store: memoryStore() })).answer("heads")).state, "accepted");
  } finally {
    Math.random = before;
  }
});
