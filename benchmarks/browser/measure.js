/**
 * What is timed, in Node and in a browser alike: each function is called in a fresh process, or page, with what JSON can
 * say, and gives such back. Times are in milliseconds. `hush.js` is the module that collectors serve.
 */

import { join, prepared, secureWords } from "./hush.js";
import * as plain from "./plain.js";

/** Any value of a mechanism, another one each time. */
function value(spec, i) {
  const k = spec.k ?? spec.mechanism.k;
  return k ? (i * 7919) % k : spec.low + (i % 100);
}

/** Its first byte, so that no engine can leave a report out that nobody looks at. */
const glance = (made) => (made.report ?? made)[0];

/** Calls by the second, each looked at: the best of some runs. */
export function perSecond(call, runs, length) {
  let best = 0;
  let seen = 0;
  for (let run = 0; run < runs; run++) {
    let calls = 0;
    const start = performance.now();
    while (performance.now() - start < length) for (let i = 0; i < 256; i++) seen ^= glance(call(calls++));
    best = Math.max(best, (1000 * calls) / (performance.now() - start));
  }
  if (!Number.isInteger(seen)) throw new Error("reports must be bytes");
  return best;
}

/** Reports by the second of one mechanism, drawn one by one from secure words. */
export function drawn(spec, runs, length) {
  const { draw } = prepared(spec);
  const words = secureWords();
  return perSecond((i) => draw(value(spec, i), words), runs, length);
}

/** The same of a sampler in plain.js. */
export function drawnPlainly(name, settings, runs, length) {
  const draw = plain[name](settings);
  return perSecond((i) => draw(value(settings, i)), runs, length);
}

/** How long tables take, the first report after them, and some more, each timed by itself. */
export function singles(spec, count) {
  const before = performance.now();
  const { draw, size } = prepared(spec);
  const tables = performance.now() - before;
  const words = secureWords();
  const times = [];
  for (let i = 0; i <= count; i++) {
    const start = performance.now();
    const made = draw(value(spec, i), words);
    times.push(performance.now() - start);
    if ((made.report ?? made).length !== size) throw new Error(`a report must have ${size} bytes`);
  }
  const [first, ...more] = times;
  more.sort((a, b) => a - b);
  return { tables, first, median: more[count >> 1], p99: more[Math.ceil(0.99 * count) - 1], slowest: more[count - 1], size };
}

/** How long it takes to join a collection: to fetch its spec, check it, and build its tables. */
export async function joined(url, options) {
  const nothing = { read: async () => undefined, update: async () => undefined };
  const start = performance.now();
  const { loss } = await join(url, { ...options, store: nothing });
  return { time: performance.now() - start, epsilon: loss.epsilon };
}
