/** In Node: call a function of a module with arguments from standard input; print what it gives, as JSON. */

import { readFileSync } from "node:fs";

const [module, name] = process.argv.slice(2);
const given = JSON.parse(readFileSync(0, "utf-8"));
try {
  const found = await import(`./${module}`);
  console.log(JSON.stringify(await found[name](...given)));
} catch (error) {
  console.error(String(error)); // without the line, which is the whole client
  process.exitCode = 1;
}
