/** How long it takes until the client can be used: fetched, compiled and evaluated. */

/** In milliseconds; `url` is relative to this module, or whole. */
export async function loaded(url) {
  const start = performance.now();
  const { join } = await import(url);
  const time = performance.now() - start;
  if (typeof join !== "function") throw new Error(`${url} must be the client`);
  const fetched = performance.getEntriesByName?.(url)[0]?.duration ?? 0;
  return { time, fetched };
}
