// The job's page: one file of HTML with its script and its style in it, so that nothing has to be loaded besides.
import { readFileSync } from "node:fs";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { Problem } from "./problem.mjs";

/** As it crosses the network. */
const MOST_COMPRESSED = 90_000;

/**
 * @param {string} root the checkout
 * @returns {Promise<Buffer>}
 */
export async function makePage(root) {
  const script = await bundled(path.join(root, "page/main.ts"));
  const style = await bundled(path.join(root, "page/page.css"));
  const html = readFileSync(path.join(root, "page/page.html"), "utf8");
  // A function, as `$&` in what is put in would mean something.
  const page = html
    .replace("<style></style>", () => `<style>${style}</style>`)
    .replace("<script></script>", () => `<script>${script.replaceAll("</script", "<\\/script")}</script>`);
  const compressed = gzipSync(page, { level: 9 }).length;
  if (compressed > MOST_COMPRESSED)
    throw new Problem(`page.html has ${compressed} bytes, more than ${MOST_COMPRESSED}`);
  return Buffer.from(page);
}

/** @param {string} entry */
async function bundled(entry) {
  const target = ["es2023", "chrome110", "firefox115", "safari16.4"];
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    minify: true,
    write: false,
    format: "iife",
    target,
  });
  return (outputFiles[0]?.text ?? "").trimEnd();
}
