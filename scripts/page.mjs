// The page of a job, and that of the portal: each one HTML file that includes its script and style, so that nothing else has to be loaded.
import { readFileSync } from "node:fs";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { Problem } from "./problem.mjs";

/** Its size on the network. */
const MOST_COMPRESSED = 90_000;

/**
 * @param {string} root the checkout
 * @param {string} name of the page, of its script and of its frame
 * @returns {Promise<{ file: string, content: Buffer }>}
 */
export async function makePage(root, name) {
  const script = await bundled(path.join(root, `page/${name}.ts`));
  const style = await bundled(path.join(root, "page/page.css"));
  const html = readFileSync(path.join(root, `page/${name}.html`), "utf8");
  // A function, because `$&` in the inserted text would have a meaning.
  const page = html
    .replace("<style></style>", () => `<style>${style}</style>`)
    .replace("<script></script>", () => `<script>${script.replaceAll("</script", "<\\/script")}</script>`);
  const compressed = gzipSync(page, { level: 9 }).length;
  if (compressed > MOST_COMPRESSED)
    throw new Problem(`${name}.html has ${compressed} bytes, more than ${MOST_COMPRESSED}`);
  return { file: `${name}.html`, content: Buffer.from(page) };
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
