/** The files of golden values that all clients share. */

import { readFileSync } from "node:fs";

/** @param {string} name */
export const golden = (name) =>
  JSON.parse(readFileSync(new URL(`../../../tests/golden/${name}.json`, import.meta.url), "utf8"));
