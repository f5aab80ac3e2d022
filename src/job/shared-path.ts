/**
 * Whether a checkpoint is readable wherever a task runs next. A URL is; a local path only below `tony.application.checkpoint-dir`,
 * which declares that the folder is shared: any other may belong to a container, or to one machine.
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

/** The path in a plain path or a `file:` URL; undefined for any other URL. */
function localPath(pathOrUrl: string): string | undefined {
  const [, scheme, rest] = /^([a-z][a-z0-9+.-]+):(?:\/\/[^/]*)?(.*)$/i.exec(pathOrUrl) ?? [];
  if (scheme === undefined) {
    return pathOrUrl;
  }
  return scheme.toLowerCase() === "file" ? rest : undefined;
}
