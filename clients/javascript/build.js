/**
 * Two minified modules for pages, which the collector serves, one for Node, and one that only draws.
 *
 *     node build.js [--check | --all]
 *
 * Says how large those for pages are, and their hashes, for `integrity`; fails where one is larger than it may be. With
 * --check it also fails where the collector serves another one, and leaves that as it is. With --all there are types and
 * the license, too, as a package needs them.
 */

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

import { build } from "esbuild";
import { minify } from "terser";

import { version } from "./src/version.js";

const MOST = 12_288; // bytes, gzipped
const INSIDE = /^(halves|refill|sizes|always|quietly|deliver)$/; // names in no spec, store or receipt, and that the second module never asks for
const bundled = { bundle: true, minifySyntax: true, format: "esm", target: "es2022", charset: "utf8", write: false };
const minified = {
  module: true,
  ecma: 2020,
  // `unsafe` joins texts by + in place of String and templates, which differs for symbols and the like alone.
  compress: { passes: 3, pure_getters: true, unsafe: true, unsafe_arrows: true, conditionals: false, sequences: false },
  mangle: { properties: { regex: INSIDE } },
};
const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const wanted = process.argv.slice(2);

async function made(name, external = []) {
  const { outputFiles } = await build({ ...bundled, external, entryPoints: [here(`src/${name}.js`)] });
  const { code } = await minify(outputFiles[0].text, minified);
  const text = `/* hush-ldp ${version}, Apache-2.0 */\n${code}\n`;
  mkdirSync(here("dist"), { recursive: true });
  writeFileSync(here(`dist/${name}.js`), text);
  return text;
}

rmSync(here("dist"), { recursive: true, force: true });
const pages = { "hush.js": await made("hush"), "question.js": await made("question", ["./hush.js"]) };
await made("node", ["./hush.js"]);
await made("drawing");

for (const [name, text] of Object.entries(pages)) {
  const size = gzipSync(text, { level: 9 }).length;
  console.log(`${name} ${size} bytes gzipped of ${MOST}, sha384-${createHash("sha384").update(text).digest("base64")}`);
  if (size > MOST) throw new Error(`${name} must have at most ${MOST} bytes gzipped, got ${size}; leave something out`);
  const served = here(`../../src/hush/collect/pages/${name}`);
  if (!wanted.includes("--check")) writeFileSync(served, text);
  else if (!existsSync(served) || readFileSync(served, "utf8") !== text) {
    throw new Error(`src/hush/collect/pages/${name} must be what this builds, got another one; run node build.js`);
  }
}

if (wanted.includes("--all")) {
  rmSync(here("types"), { recursive: true, force: true });
  const emit = ["--project", here("."), "--noEmit", "false", "--declaration", "--emitDeclarationOnly"];
  const tsc = here("node_modules/typescript/bin/tsc");
  execFileSync(process.execPath, [tsc, ...emit, "--outDir", here("types")], { stdio: "inherit" });
  copyFileSync(here("../../LICENSE"), here("LICENSE"));
}
