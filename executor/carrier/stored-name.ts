import { createHash } from "node:crypto";
import { onDisk } from "../../src/file-names.ts";
import { MANIFEST, NAMES } from "../../src/job/stored/carried-names.ts";

/** The longest single name (dfs.namenode.fs-limits.max-component-length). */
const LONGEST_BYTES = 255;
const HASH_DIGITS = 16;

/**
 * HDFS accepts no colon (org.apache.hadoop.hdfs.DFSUtilClient#isValidName) and no bytes that are not UTF-8; Hadoop's own clients read
 * backslashes as slashes and semicolons as parameters; nobody can read control characters. The per cent sign is the escape character of the
 * others.
 */
const REFUSED = /[\p{Cc}:;%\\\udc80-\udcff]/gu;
/** HDFS reserves the first name; the others are ours, at the top of a folder. */
const TAKEN: ReadonlySet<string> = new Set([".snapshot", MANIFEST, NAMES]);

/** The path under which a file is stored: unchanged where the file system accepts its names, else per cent encoded. */
export function storedName(path: string): string {
  return path.split("/").map(storedPart).join("/");
}

function storedPart(part: string): string {
  const encoded = TAKEN.has(part) ? percent(part.slice(0, 1)) + part.slice(1) : part.replace(REFUSED, percent);
  if (Buffer.byteLength(encoded) <= LONGEST_BYTES) return encoded;
  const hash = createHash("sha256").update(onDisk(part)).digest("hex").slice(0, HASH_DIGITS);
  return `${shortened(encoded, LONGEST_BYTES - HASH_DIGITS - 1)}%${hash}`;
}

function percent(character: string): string {
  // The low byte of a lone surrogate is the byte that it stands for.
  return `%${(character.charCodeAt(0) & 0xff).toString(16).toUpperCase().padStart(2, "0")}`;
}

/** The longest beginning within that many bytes that cuts no character. */
function shortened(text: string, bytes: number): string {
  let [end, size] = [0, 0];
  for (const character of text) {
    size += Buffer.byteLength(character);
    if (size > bytes) break;
    end += character.length;
  }
  return text.slice(0, end);
}
