/** Hush outside of browsers: the same, and a store for a program that need not remember. */

export * from "./hush.js";

/**
 * A store in memory, which lasts as long as the process does. What was spent is forgotten with it: for people who come
 * back, pass a store of your own that is on a disk.
 *
 * @returns {import("./store.js").Store}
 */
export function memoryStore() {
  /** @type {import("./book.js").State | undefined} */
  let kept;
  return {
    read: async () => structuredClone(kept),
    update: async (change) => {
      kept = structuredClone(change(structuredClone(kept)));
    },
  };
}
