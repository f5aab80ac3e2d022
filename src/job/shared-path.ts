/**
 * Whether a checkpoint can be read wherever a task runs next. A URL can; a path of a machine only below
 * `tony.application.checkpoint-dir`, which says that the folder is shared: any other may be a container's, or one machine's alone.
 */
export function isShared(path: string, sharedFolder: string | undefined): boolean {
  const local = localPath(path);
  if (local === undefined) {
    return true;
  }
  const folder = sharedFolder === undefined ? undefined : localPath(sharedFolder)?.replace(/\/+$/, "");
  const inside = folder?.startsWith("/") === true && (local === folder || local.startsWith(`${folder}/`));
  return inside && !local.split("/").includes("..");
}

/** Of a plain path or a `file:` URL; undefined for any other URL. */
function localPath(pathOrUrl: string): string | undefined {
  const [, scheme, rest] = /^([a-z][a-z0-9+.-]+):(?:\/\/[^/]*)?(.*)$/i.exec(pathOrUrl) ?? [];
  if (scheme === undefined) {
    return pathOrUrl;
  }
  return scheme.toLowerCase() === "file" ? rest : undefined;
}
