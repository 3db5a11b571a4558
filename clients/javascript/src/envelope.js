/** A batch as it travels: see docs/batches.md for the layout. All integers are little-endian. */

import { hex, unhex, utf8 } from "./bytes.js";
import { must } from "./errors.js";
import { put } from "./words.js";

const HEAD = 75; // bytes before the build; eight more follow it
const MAGIC = "485348420100"; // HSHB, and version 1

/**
 * @typedef {object} Envelope
 * @property {string} collection The collection's id, 32 hexadecimal digits.
 * @property {string} hash SHA-256 of its spec, 64 hexadecimal digits.
 * @property {string} batch The batch's own id, 32 hexadecimal digits.
 * @property {number} period The number of the period.
 * @property {string} build Which release of a client made it.
 * @property {number} size Bytes of one record.
 * @property {Uint8Array} records All of them, one after the other.
 */

/** @param {number} number */
const four = (number) => put(new Uint8Array(4), 0, number, 4);

/** Refuse what no envelope takes. @param {string} build */
export function checkBuild(build) {
  const right = build.match?.(/^([a-z\d][\w.+/ -]{0,63})?$/i); // numbers have none
  must(right, "build", "be like shop-app/3.1", build, "leave it out");
}

/** The bytes of a batch. @param {Envelope} envelope */
export const sealed = ({ collection, hash, batch, period, build, size, records }) =>
  new Uint8Array([
    ...unhex(MAGIC + collection + hash + batch),
    ...four(period),
    build.length,
    ...utf8(build),
    ...four(records.length / size),
    ...four(size),
    ...records,
  ]);

/**
 * What a batch says, all of it; for whoever shows what left the device.
 *
 * @param {Uint8Array} bytes
 * @returns {Envelope}
 */
export function opened(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const after = HEAD + (bytes[74] ?? 0);
  const whole = bytes.length >= after + 8 && hex(bytes.subarray(0, 6)) === MAGIC && after <= HEAD + 64;
  const [period, number, size] = [70, after, after + 4].map((at) => (whole ? view.getUint32(at, true) : 0));
  const exact = size > 0 && number > 0 && number <= 100_000 && bytes.length === after + 8 + number * size;
  const rule = "begin with HSHB and version 1, and be exactly as long as its counts say";
  must(exact && period < 2 ** 31, "envelope", rule, `${bytes.length} bytes`, "take it whole, and nothing more");
  const build = String.fromCharCode(...bytes.subarray(HEAD, after));
  checkBuild(build);
  return {
    collection: hex(bytes.subarray(6, 22)),
    hash: hex(bytes.subarray(22, 54)),
    batch: hex(bytes.subarray(54, 70)),
    period,
    build,
    size,
    records: bytes.slice(after + 8),
  };
}

/** What is sent: the key behind its length, and the envelope. @param {string} key @param {Uint8Array} envelope */
export function body(key, envelope) {
  must(key?.match?.(/^[ -~]{0,64}$/), "key", "be ASCII", "another", "copy it");
  return new Uint8Array([key.length, ...utf8(key), ...envelope]);
}
