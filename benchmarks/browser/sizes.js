/** In Node: how large files are, as they are and gzipped as the build does it. */

import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

export function sizes(files) {
  return files.map((file) => {
    const content = readFileSync(file);
    return { bytes: content.length, gzipped: gzipSync(content, { level: 9 }).length };
  });
}
