/** `node am.mjs --write-code-cache FILE`: runs the program and writes at its end what V8 has compiled of it. */
export const cacheOption = "--write-code-cache";

/** Where a program looks for its compiled code, and what that is called where it is shipped: beside it. */
export function codeCacheOf(program: string): string {
  return `${program}.cache`;
}
