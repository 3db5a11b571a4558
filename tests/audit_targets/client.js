// Clients to be audited over a pipe: values on stdin, one a line; one report a line on stdout.
// node client.js <kind> <k> <epsilon>
"use strict";
const [kind, kText, epsilonText] = process.argv.slice(2);
const k = Number(kText);
const e = Math.exp(Number(epsilonText));
const q = 1 / (e + 1);

function grr(value) {
  if (Math.random() < e / (e + k - 1)) return value;
  const other = Math.floor(Math.random() * (k - 1));
  return other < value ? other : other + 1;
}

function oue(value, reset) {
  const bits = Array.from({ length: k }, () => (Math.random() < q ? 1 : 0));
  if (reset) bits[value] = 0;
  if (Math.random() < 0.5) bits[value] = 1;
  return bits;
}

const report = {
  grr: (value) => String(grr(value)),
  word: (value) => ["red", "green", "blue", "other"][grr(value)],
  oue: (value) => oue(value, true).join(","),
  unreset: (value) => oue(value, false).join(" "), // the true value's bit is set but never cleared
  json: (value) => JSON.stringify({ bits: oue(value, true), version: 2 }),
  set: (value) => JSON.stringify(oue(value, true).flatMap((bit, at) => (bit ? [at] : []))),
  shift: (value) => String(Math.random() < e / (e + k - 1) ? value : (value + 1 + Math.floor(Math.random() * (k - 2))) % k),
}[kind];

require("readline")
  .createInterface({ input: process.stdin })
  .on("line", (line) => process.stdout.write(report(Number(line)) + "\n"));
