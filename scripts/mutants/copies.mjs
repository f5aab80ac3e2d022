import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { CHECKOUT } from "../cluster/folders.mjs";

/** Made by `npm run proto`, and not kept by git. */
const GENERATED = ["src/hadoop/wire/generated", "src/api/generated"];

/**
 * Works in several copies of the checkout at once, and removes them again.
 * @param {number} count
 * @param {(copy: string, ended: AbortSignal) => Promise<void>} work `ended`: by SIGINT or SIGTERM, what it started must end
 */
export async function withCopies(count, work) {
  const home = mkdtempSync(join(tmpdir(), "tony-ts-mutants-"));
  const ended = new AbortController();
  const remove = () => rmSync(home, { recursive: true, force: true, maxRetries: 10 });
  const endEarly = () => {
    ended.abort();
    remove();
    process.exit(130);
  };
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, endEarly);
  try {
    await Promise.all(
      Array.from({ length: count }, (_, index) => work(copyInto(join(home, String(index))), ended.signal)),
    );
  } finally {
    remove();
  }
}

/**
 * What git knows or would add, the generated code, and a link to the packages.
 * @param {string} copy
 */
function copyInto(copy) {
  const listed = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
    cwd: CHECKOUT,
  });
  const files = listed
    .toString()
    .split("\0")
    .filter((file) => file !== "" && existsSync(join(CHECKOUT, file)));
  for (const file of [...files, ...GENERATED]) {
    mkdirSync(dirname(join(copy, file)), { recursive: true });
    cpSync(join(CHECKOUT, file), join(copy, file), { recursive: true });
  }
  symlinkSync(join(CHECKOUT, "node_modules"), join(copy, "node_modules"));
  return copy;
}
