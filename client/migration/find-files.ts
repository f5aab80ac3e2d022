import { readdirSync, readFileSync, statSync } from "node:fs";
import path from "node:path";

/** No job's file and no script is larger. */
const largestBytes = 1024 * 1024;
/** Folders of other programs; those that begin with a dot are left out, too. */
const foreign: ReadonlySet<string> = new Set(["node_modules", "__pycache__", "venv"]);

/** A file with its text. */
export interface FoundFile {
  readonly name: string;
  readonly text: string;
}

/** Files of properties are ISO 8859-1 to Java (java.util.Properties#load): read so, each byte comes back as it was. */
export function encodingOf(name: string): "latin1" | "utf8" {
  return /\.(job|properties)$/.test(name) ? "latin1" : "utf8";
}

/** The text files of a folder and those in it, by path; links are not followed. */
export function* textFilesBelow(folder: string): Generator<FoundFile> {
  const entries = readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const entry of entries) {
    const name = path.join(folder, entry.name);
    if (entry.isDirectory()) {
      if (!entry.name.startsWith(".") && !foreign.has(entry.name)) yield* textFilesBelow(name);
    } else if (entry.isFile() && statSync(name).size <= largestBytes) {
      const text = readFileSync(name, encodingOf(name));
      if (!text.includes("\0")) yield { name, text };
    }
  }
}
