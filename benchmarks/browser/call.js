/** In Node: call a function of a module with arguments from standard input; print what it gives, as JSON. */

import { readFileSync } from "node:fs";

const [module, name] = process.argv.slice(2);
const found = await import(`./${module}`);
console.log(JSON.stringify(await found[name](...JSON.parse(readFileSync(0, "utf-8")))));
