/**
 * Subsets as numbers, in as few bytes as there can be: the combinatorial number system, whose terms beyond 2^57 are
 * rounded up to 64 bits (hush.kernels.combinadic, which says why that is a code).
 */

import { unhex } from "./bytes.js";

/**
 * What numbers the subsets of 0..m-1 with omega members, for one m or several; and in how many bytes.
 *
 * @param {number[]} moduli
 * @param {number[]} omegas
 * @returns {{size: number, starts: bigint[], term: (s: number, i: number) => bigint, code: (j: number, members: number[]) => Uint8Array}}
 */
export function numbering(moduli, omegas) {
  /** The upper 64 bits of s!, those of 1/s!, and by how many bits the former are shifted. @type {[bigint, bigint, number][]} */
  const factorials = [];
  for (let s = 0, whole = 1n << 127n, shift = -63; s <= Math.max(...moduli); s++) {
    const bits = 31 - Math.clz32(s || 1);
    whole = (whole * BigInt(s || 1)) >> BigInt(bits);
    const more = whole >> 128n && 1n;
    whole >>= more;
    shift += bits + Number(more);
    const over = (1n << 191n) / whole;
    factorials.push([whole >> 64n, over - (over >> 64n), shift]);
  }

  /** What member s adds, as the i-th. @param {number} s @param {number} i */
  const term = (s, i) => {
    if (s <= i) return BigInt(s === i);
    const [up, , place] = factorials[s];
    const [, down, under] = factorials[i];
    const [, rest, below] = factorials[s - i];
    let word = (up * ((down * rest) >> 64n)) >> 64n;
    const shift = BigInt(place - under - below - 126);
    if (shift < 0n && word >> -shift < 1n << 57n) return (((word << 1n) >> -shift) + 1n) >> 1n;
    word >>= 1n;
    return (word + (((word >> 32n) * BigInt(s)) >> 23n)) << (shift + 1n);
  };

  const starts = [0n];
  moduli.forEach((m, j) => starts.push(starts[j] + term(m, omegas[j])));
  // Beyond 56 bits the last start is a little too large, and a millionth of a bit stays free, as in Python.
  const last = starts[moduli.length];
  const bits = (last - 1n).toString(2).length;
  const head = BigInt(bits > 56 ? bits - 56 : 0);
  const size = (head ? Math.floor((Number(head) + Math.log2(Number(last >> head)) + 1e-6) / 8) : (bits - 1) >> 3) + 1;
  return {
    size,
    starts,
    term,
    code(j, members) {
      let sum = starts[j];
      members.forEach((member, i) => (sum += term(member, i + 1)));
      return Uint8Array.from(unhex(sum.toString(16).padStart(2 * size, "0"))).reverse();
    },
  };
}
