/** Of which release of Hush this is. */
export const version = "0.2.0.dev0";
