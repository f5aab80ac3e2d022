import { readdirSync, readFileSync, statSync } from "node:fs";
import path from "node:path";

/** Job files and scripts are smaller than this. */
const largestBytes = 1024 * 1024;
/** Folders of other programs; folders whose names begin with a dot are skipped, too. */
const foreign: ReadonlySet<string> = new Set(["node_modules", "__pycache__", "venv"]);

/** A file with its text. */
export interface FoundFile {
  readonly name: string;
  readonly text: string;
}

/** Java reads properties files as ISO 8859-1 (java.util.Properties#load): in that encoding every byte is written back unchanged. */
export function encodingOf(name: string): "latin1" | "utf8" {
  return /\.(job|properties)$/.test(name) ? "latin1" : "utf8";
}

/** The text files below a folder, by path; links are not followed. */
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
