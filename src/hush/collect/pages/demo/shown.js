/** What left, what it gives away, and what the crowd says: as rows of bars with their numbers. */

import { hue, made, name, percent } from "./parts.js";
import { kind } from "./coins.js";

const LEFT = -0.15;
const WIDTH = 0.9; // of the shares that a track shows, from LEFT on

/** The bits of a byte, the highest first. @param {number} byte @param {number} first @param {string[]} labels */
function bits(byte, first, labels) {
  const cells = [7, 6, 5, 4, 3, 2, 1, 0].map((i) => {
    const value = first + i;
    const one = (byte >> i) & 1;
    const known = value < labels.length;
    const cell = made("li", `${one ? "one " : ""}${known ? hue(value) : ""}`, made("b", "", String(one)), made("i", known ? "mark" : ""));
    return cell;
  });
  const row = made("ul", "bits", ...cells);
  row.setAttribute("aria-hidden", "true");
  return row;
}

/** @param {any} explanation @param {any} m @param {string[]} labels */
export function bytes({ sent, report }, m, labels) {
  return sent.map((part) => {
    const pairs = part.bytes.match(/../g) ?? [];
    const whole = part.bytes === report && pairs.length <= 2;
    const shown = whole ? pairs.map((pair, i) => bits(parseInt(pair, 16), 8 * i, kind(m) === "unary" ? labels : [])) : [];
    const term = made("dt", pairs.length > 4 ? "long" : "", pairs.join(" "));
    const detail = made("dd", "", ...shown, part.words);
    return made("div", "", term, detail);
  });
}

/** Odds as people say them. @param {number} odds */
const against = (odds) => (odds < 1 ? `1 : ${short(1 / odds)}` : `${short(odds)} : 1`);
const short = (number) => String(Number(number.toPrecision(number < 10 ? 2 : 3)));

/** @param {number} share @param {string} className */
function bar(share, className) {
  const filled = made("i");
  filled.style.width = `${100 * share}%`;
  return made("div", `bar ${className}`, filled);
}

/** @param {{label: string, before: number, after: number, oddsBefore: number, oddsAfter: number}[]} answers */
export const odds = (answers) =>
  answers.map(({ label, before, after, oddsBefore, oddsAfter }, value) => {
    const numbers = made("span", "numbers", `${percent(before)} → `, made("strong", "", percent(after)), ` (odds ${against(oddsBefore)} → ${against(oddsAfter)})`);
    return made("li", hue(value), made("p", "said", name(String(label)), numbers), bar(before, "before"), bar(after, "after"));
  });

/** @param {number} share */
const place = (share) => `${(100 * (share - LEFT)) / WIDTH}%`;

/** @param {string[]} labels */
export function tracks(labels) {
  const rows = labels.map((label, value) => {
    const [zero, truth, whisker, mark] = ["zero", "truth", "whisker", "mark"].map((each) => made("i", each));
    zero.style.left = truth.style.left = place(0);
    const numbers = made("span", "numbers");
    const track = made("div", "track", truth, zero, whisker, mark);
    track.setAttribute("aria-hidden", "true");
    const row = made("li", hue(value), made("p", "said", name(label), numbers), track);
    const show = ({ truth: share, estimate, low, high }) => {
      truth.style.width = `${(100 * share) / WIDTH}%`;
      whisker.style.left = place(low);
      whisker.style.width = `${(100 * (high - low)) / WIDTH}%`;
      mark.style.left = place(estimate);
      const from = `${percent(low, 0).replace(" %", "")} to ${percent(high, 0)}`;
      numbers.replaceChildren(made("strong", "", percent(estimate)), ` (${from}), truth ${percent(share)}`);
      Object.assign(row.dataset, { estimate, truth: share, low, high });
    };
    return { row, show };
  });
  const axis = made("li", "axis");
  axis.setAttribute("aria-hidden", "true");
  for (const share of [0, 0.2, 0.4, 0.6]) {
    const tick = made("span", "", percent(share, 0));
    tick.style.left = place(share);
    axis.append(tick);
  }
  return { rows: [...rows.map(({ row }) => row), axis], show: (all) => all.forEach((each, value) => rows[value].show(each)) };
}
