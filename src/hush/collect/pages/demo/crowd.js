/** A crowd that is simulated in the page: each visitor chooses, flips coins of their own, and only reports are counted. */

import { prepared, secureWords } from "/client/{{version}}/hush.js";
import { chances, speaks } from "./coins.js";

const SHARES = [0.41, 0.27, 0.2, 0.12];
const Z = 1.959964; // of a normal law, 95 of 100 lie within

/** An answer that is drawn by the shares. @param {number} k */
function chosen(k) {
  let left = crypto.getRandomValues(new Uint32Array(1))[0] / 2 ** 32;
  const shares = Array.from({ length: k }, (_, value) => SHARES[value] ?? 0.12);
  left *= shares.reduce((sum, share) => sum + share, 0);
  const found = shares.findIndex((share) => (left -= share) < 0);
  return found < 0 ? k - 1 : found;
}

/** @param {any} m The mechanism of a spec. @param {number} k */
export function crowd(m, k) {
  const mechanism = prepared(m);
  const words = secureWords();
  const [own, other] = chances(m);
  const truth = new Array(k).fill(0);
  const spoken = new Array(k).fill(0);
  let n = 0;
  /** @param {number} value @param {Uint8Array} report */
  const add = (value, report) => {
    n++;
    truth[value]++;
    for (let each = 0; each < k; each++) if (speaks(m, report, each)) spoken[each]++;
  };
  return {
    add,
    join() {
      const value = chosen(k);
      add(value, mechanism.draw(value, words));
    },
    get n() {
      return n;
    },
    /** Of each answer: the truth, an unbiased estimate, and a Wilson interval of what reports speak for, as shares. */
    estimates: () =>
      spoken.map((count, value) => {
        const share = count / n;
        const middle = (share + (Z * Z) / (2 * n)) / (1 + (Z * Z) / n);
        const half = (Z / (1 + (Z * Z) / n)) * Math.sqrt((share * (1 - share)) / n + (Z / (2 * n)) ** 2);
        const of = (each) => (each - other) / (own - other);
        return { truth: truth[value] / n, estimate: of(share), low: of(middle - half), high: of(middle + half) };
      }),
  };
}
