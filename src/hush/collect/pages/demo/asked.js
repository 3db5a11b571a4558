/** What is asked: four outings that stay in the page; or the question of a collection, if the address names one. */

import { join, prepared, secureWords } from "/client/{{version}}/hush.js";

const MOST = 12; // answers that the page has room for
const LABELS = ["Sea", "Forest", "Museum", "Cinema"];
const words = secureWords();

/** The page's own question: nothing is sent. */
async function own() {
  const specs = await (await fetch("/demo/specs.json")).json();
  return {
    labels: LABELS,
    specs,
    /** @param {string} mechanism @param {string} epsilon */
    spec: (mechanism, epsilon) => specs[`${mechanism} ${epsilon}`],
    /** @param {any} spec @param {number} value */
    report: async (spec, value) => prepared(spec.mechanism).draw(value, words),
  };
}

/** The question of a collection: an answer is really sent, once. @param {string} url @param {string} key */
async function theirs(url, key) {
  const collection = await join(url, { key });
  const { spec, labels, status, name } = collection;
  const { k, mechanism } = "hush" in spec ? spec.mechanism : spec;
  const size = k ?? mechanism?.k;
  if (status !== "open") throw new Error(`“${name}” is ${status}, and takes no answers.`);
  if (!size || size > MOST) throw new Error(`“${name}” asks for something that this page has no room for.`);
  const shown = labels ?? Array.from({ length: size }, (_, value) => value);
  return {
    collection,
    labels: shown.map(String),
    spec: () => spec,
    /** @param {any} _ @param {number} value */
    report: (_, value) => collection.answer(shown[value]),
  };
}

/** What is asked, and why it is not what the address says, if so. */
export async function asked() {
  const given = new URLSearchParams(location.search);
  const url = given.get("collection");
  const mine = await own();
  if (!url) return { ...mine, specs: mine.specs, problem: "" };
  try {
    return { ...(await theirs(url, given.get("key") ?? "")), specs: mine.specs, problem: "" };
  } catch (error) {
    return { ...mine, problem: error.message };
  }
}
