import type { Configuration } from "../conf/configuration.ts";

const prefix = "fs.viewfs.mounttable";

/**
 * Resolves a path of `viewfs://<authority>` by the mount table in the configuration (org.apache.hadoop.fs.viewfs.InodeTree): by the longest
 * link that leads to the path, else by `linkMergeSlash` or `linkFallback`.
 *
 * @returns the full URI in the target file system
 * @throws ConfigurationError when no link leads to the path, or when it lies under a kind of link that names several file systems
 */
export function resolveMount(configuration: Configuration, authority: string, path: string): string {
  const table = `${prefix}.${tableName(configuration, authority)}`;
  const links = mountLinks(configuration, table);
  const link = links
    .filter(({ mount }) => mount === "/" || path === mount || path.startsWith(`${mount}/`))
    .sort((left, right) => right.mount.length - left.mount.length)[0];
  if (link === undefined) {
    const known = links.map(({ mount }) => mount).join(", ") || "none";
    throw configuration.invalid(
      `${table}.link.${path}`,
      `is not set: no mount of viewfs://${authority} leads there (mounts: ${known})`,
    );
  }
  if (link.target === undefined) {
    throw configuration.invalid(
      link.key,
      "is a link to several file systems, which this client does not read; name one of them by its own URI",
    );
  }
  const rest = link.mount === "/" ? path : path.slice(link.mount.length);
  return `${link.target.replace(/\/+$/, "")}${rest === "" ? "/" : rest}`.replace(/(?<=[^/])\/$/, "");
}

/** The parent folder of the home directories in a mount table. */
export function viewHomePrefix(configuration: Configuration, authority: string): string {
  return configuration.get(`${prefix}.${tableName(configuration, authority)}.homedir`) ?? "/user";
}

function tableName(configuration: Configuration, authority: string): string {
  if (authority === "") return configuration.get(`${prefix}.default.name.key`) ?? "default";
  const ignorePort = configuration.getBoolean("fs.viewfs.ignore.port.in.mount.table.name", false);
  return ignorePort ? authority.replace(/:\d+$/, "") : authority;
}

interface MountLink {
  readonly key: string;
  readonly mount: string;
  /** Undefined for linkMerge and linkNfly, whose value is a list. */
  readonly target: string | undefined;
}

function mountLinks(configuration: Configuration, table: string): MountLink[] {
  return [...configuration.entries()].flatMap(([key]): MountLink[] => {
    if (!key.startsWith(`${table}.`)) return [];
    const entry = key.slice(table.length + 1);
    const target = configuration.get(key);
    if (entry === "linkFallback" || entry === "linkMergeSlash") return [{ key, mount: "/", target }];
    const [, kind, mount] = /^(link|linkMerge|linkNfly(?:\.[^./]+)?)\.(\/.*)$/.exec(entry) ?? [];
    if (kind === undefined || mount === undefined) return [];
    return [{ key, mount: mount.replace(/(.)\/+$/, "$1"), target: kind === "link" ? target : undefined }];
  });
}
