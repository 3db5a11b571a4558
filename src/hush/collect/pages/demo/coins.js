/** The coins, as they fell: which they were follows from the report, and how likely from the spec. */

import { hue, made, name, percent } from "./parts.js";

const UNARY = /^(UE|SUE|OUE|THE|AUE)$/;
const WHOLE = 2 ** 64;

/** @param {any} m The mechanism of a spec. */
export const kind = (m) => (UNARY.test(m.mechanism) ? "unary" : m.mechanism === "GRR" ? "direct" : "other");

/** How likely a report speaks for the answer that was given, and for another one. @param {any} m */
export function chances(m) {
  const { p, q, keep } = m.thresholds;
  return kind(m) === "unary" ? [p / WHOLE, q / WHOLE] : [keep / WHOLE, (1 - keep / WHOLE) / (m.k - 1)];
}

/** Whether a report speaks for an answer. @param {any} m @param {Uint8Array} report @param {number} value */
export const speaks = (m, report, value) =>
  kind(m) === "unary" ? Boolean((report[value >> 3] >> (value & 7)) & 1) : report[0] === value;

/** @param {any} m @param {string} label */
export function rule(m, label) {
  const [own, other] = m.thresholds ? chances(m) : [];
  return {
    unary: `Each answer has a coin of its own. That of “${label}” shows 1 with a chance of ${percent(own)}, every other one with ${percent(other)}. Nobody but you knows which one is yours.`,
    direct: `One coin: with a chance of ${percent(own)}, “${label}” is what is said. Otherwise chance picks one of the other ${m.k - 1}.`,
    other: `“${label}” was randomized by ${m.protocol ?? m.mechanism}.`,
  }[kind(m)];
}

/** @param {any} m @param {Uint8Array} report @param {number} mine @param {string[]} labels */
export function coins(m, report, mine, labels) {
  const faces = labels.map((label, value) => [value, label, speaks(m, report, value)]);
  if (kind(m) === "direct") {
    const said = report[0];
    return [
      coin(mine, said === mine ? "say it" : "do not", said === mine, labels[mine], `said with a chance of ${percent(chances(m)[0])}`, true),
      coin(said, labels[said], true, labels[said], said === mine ? "what is said: your own" : "what is said: picked by chance", true, 1),
    ];
  }
  if (kind(m) === "other") return [];
  const [own, other] = chances(m);
  return faces.map(([value, label, one]) =>
    coin(value, Number(one), one, label, `shows 1 with ${percent(value === mine ? own : other)}`, false, value),
  );
}

function coin(value, face, one, label, chance, word, order = 0) {
  const shown = made("span", "", String(face));
  const disc = made("div", `coin flip${one ? " one" : ""}${word ? " word" : ""}`, shown);
  disc.style.setProperty("--wait", `${order * 0.15}s`);
  return made("li", hue(value), disc, name(label), made("span", "chance", chance));
}

/** What the coins came to, in words. @param {any} m @param {Uint8Array} report @param {number} mine @param {string[]} labels */
export function fell(m, report, mine, labels) {
  if (kind(m) === "other") return "";
  if (kind(m) === "direct") {
    return report[0] === mine ? "The coin said: say it." : `The coin said: do not. Chance picked “${labels[report[0]]}”.`;
  }
  const ones = labels.filter((_, value) => speaks(m, report, value));
  const mineToo = speaks(m, report, mine) ? "yours among them" : "yours is not among them";
  return ones.length ? `Coins that show 1: ${ones.join(", ")}; ${mineToo}.` : "No coin shows 1, not even yours.";
}
