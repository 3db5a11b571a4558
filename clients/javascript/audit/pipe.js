/**
 * This client as `hush audit --pipe` takes programs: values on standard input, one a line; one report a line on standard
 * output, as numbers. Over time a line is the values of a person in several rounds, with commas, and so are the reports.
 *
 *     node pipe.js '{"mechanism": "GRR", ...}' [bug]
 *
 * A bug is one of those in bugs.js.
 */

import { createInterface } from "node:readline";

import { prepared } from "../src/mechanisms.js";
import { secureWords } from "../src/words.js";
import * as bugs from "./bugs.js";
import { viewOf } from "./views.js";

const [text, bug] = process.argv.slice(2);
const spec = JSON.parse(text);
const mechanism = prepared(bug === "swapped" ? bugs.swapped(spec) : spec);
const secure = secureWords();
const sources = { biased: () => bugs.biased(secure, spec.k - 1), reused: () => bugs.reused(secure) };
const words = sources[bug]?.() ?? secure;
const view = viewOf(spec);

/** The reports of one line. */
function reports(line) {
  let memory;
  return line.split(",").flatMap((value) => {
    words.begin?.();
    const made = mechanism.draw(Number(value), words, memory);
    ({ memory } = made);
    return view(made.report ?? made);
  });
}

const lines = [];
const input = createInterface({ input: process.stdin });
input.on("line", (line) => lines.push(reports(line).join(" ")));
input.on("close", () => process.stdout.write(`${lines.join("\n")}\n`));
