/** In Node: reports a second of a package from npm, along its own path: one encoder, one call a value. */

import { createRequire } from "node:module";

import { perSecond } from "./measure.js";

/** Of the package `rappor`, whose reports are a cohort and a buffer of bits. */
export function drawn(name, bits, runs, length) {
  const { Encoder, Params } = createRequire(import.meta.url)(name);
  const encoder = new Encoder("a person", { ...Params, num_bloombits: bits });
  const call = (i) => {
    const { irr } = encoder.encode(`value ${i % bits}`);
    return new Uint8Array(irr);
  };
  if (call(0).length !== bits >> 3) throw new Error(`a report of ${name} must have ${bits} bits`);
  return perSecond(call, runs, length);
}
