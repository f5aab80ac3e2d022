import { readdirSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { clientAccess, isOwnSecret } from "../../src/api/identity.ts";
import { readTokenFile } from "../../src/hadoop/security/token-file.ts";
import type { ClusterStatus } from "./cluster.ts";

/** Something that must not be found, with a name for people. */
export interface Secret {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/**
 * The secrets of a running job, from the NodeManagers' own copies of its containers' token files, which root may read here: the tokens'
 * passwords, the user's secrets, those of tony-ts, and what the owner's clients derive from its key.
 */
export function secretsOf({ nodes }: ClusterStatus, applicationId: string): Secret[] {
  const folders = nodes.map(({ folder }) => path.join(folder, "local", "nmPrivate", applicationId));
  const files = folders.flatMap((folder) => filesBelow(folder).filter((file) => file.endsWith(".tokens")));
  const found = files.flatMap((file) => {
    const { tokens, secrets } = readTokenFile(readFileSync(file));
    const own = [...secrets].flatMap(([name, bytes]) => [
      { name, bytes },
      ...(isOwnSecret(name)
        ? [{ name: `clients' of ${name}`, bytes: clientAccess({ applicationId, key: bytes }).caller.secret }]
        : []),
    ]);
    return [...own, ...tokens.map(({ token }) => ({ name: `password of ${token.kind}`, bytes: token.password }))];
  });
  return [...new Map(found.map((secret) => [Buffer.from(secret.bytes).toString("hex"), secret])).values()];
}

/** The names of the secrets that these bytes contain: as they are, in hexadecimal, or in base64 starting at any byte. */
export function secretsIn(haystack: Buffer, secrets: readonly Secret[]): string[] {
  // Hexadecimal in capitals and base64 for URLs are found too.
  const text = haystack.toString("latin1");
  const lower = text.toLowerCase();
  const standard = text.replaceAll("-", "+").replaceAll("_", "/");
  return secrets.flatMap(({ name, bytes }) => {
    const raw = Buffer.from(bytes);
    const isThere =
      haystack.includes(raw) ||
      lower.includes(raw.toString("hex")) ||
      [0, 1, 2].some((offset) => standard.includes(base64Core(raw, offset)));
    return isThere ? [name] : [];
  });
}

/** The base64 characters that depend on these bytes alone, when `offset` other bytes come before them. */
function base64Core(bytes: Buffer, offset: number): string {
  const encoded = Buffer.concat([Buffer.alloc(offset), bytes])
    .toString("base64")
    .replace(/=+$/, "");
  const partial = (offset + bytes.length) % 3 === 0 ? 0 : 1;
  return encoded.slice(offset === 0 ? 0 : offset + 1, encoded.length - partial);
}

/** Files below a folder that another user of the machine may read, by the mode bits of each file and of every folder on the way. */
export function readableByOthers(folder: string): string[] {
  return filesBelow(folder, (mode, isFolder) => (mode & (isFolder ? 0o001 : 0o004)) !== 0);
}

function filesBelow(folder: string, mayUse: (mode: number, isFolder: boolean) => boolean = () => true): string[] {
  const below = attempt(() => readdirSync(folder, { withFileTypes: true })) ?? [];
  return below.flatMap((entry) => {
    const file = path.join(folder, entry.name);
    const isFolder = entry.isDirectory();
    const mode = attempt(() => statSync(file).mode);
    if (mode === undefined || !(isFolder || entry.isFile()) || !mayUse(mode, isFolder)) return [];
    return isFolder ? filesBelow(file, mayUse) : [file];
  });
}

/** What can be read of every process of this machine: everybody can read its command line, its own user can read its environment. */
export function processTexts(file: "cmdline" | "environ"): { readonly pid: number; readonly text: Buffer }[] {
  return readdirSync("/proc").flatMap((entry) => {
    const text = /^\d+$/.test(entry) ? attempt(() => readFileSync(`/proc/${entry}/${file}`)) : undefined;
    return text === undefined ? [] : [{ pid: Number(entry), text }];
  });
}

/** Undefined where what is looked at has gone meanwhile. */
function attempt<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}
