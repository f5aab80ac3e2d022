/**
 * The folder of the page. YARN's proxy also serves it without the last slash, and others may put any path in front: the last id in the
 * path is the job's.
 */
export function base(path: string): string {
  const found = [...path.matchAll(/application_\d+_\d+/g)].at(-1);
  return found === undefined ? path.replace(/[^/]*$/, "") : `${path.slice(0, found.index + found[0].length)}/`;
}
