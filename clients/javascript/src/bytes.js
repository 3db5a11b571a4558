/** Bytes, their digits, random ones, and the one text of plain data (RFC 8785), of which specs have a hash. */

/** @param {Uint8Array} bytes */
export const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

/** @param {string} digits */
export const unhex = (digits) => (digits.match(/../g) ?? []).map((pair) => parseInt(pair, 16));

/** @param {string} text */
export const utf8 = (text) => new TextEncoder().encode(text);

/** A random id of 128 bits. */
export const newId = () => hex(crypto.getRandomValues(new Uint8Array(16)));

/**
 * Canonical JSON: names in the order of their UTF-16 units, numbers as ECMAScript prints them.
 *
 * @param {any} plain
 * @returns {string}
 */
export const canonical = (plain) =>
  Array.isArray(plain)
    ? `[${plain.map(canonical)}]`
    : plain && typeof plain === "object"
      ? `{${Object.keys(plain).sort().map((name) => `${JSON.stringify(name)}:${canonical(plain[name])}`)}}`
      : JSON.stringify(plain);

/** SHA-256 of a text, in hex. @param {string} text */
export const sha256 = async (text) => hex(new Uint8Array(await crypto.subtle.digest("SHA-256", utf8(text))));

/** That of the canonical JSON of plain data. @param {any} plain */
export const hashed = (plain) => sha256(canonical(plain));
