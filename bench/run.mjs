// `npm run bench`: bundles bench/ into a folder below this checkout's dist, from where it finds the package, and runs
// it.
import { mkdirSync } from "node:fs";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";
import { withoutUnusedParts } from "../scripts/bundle.mjs";

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const outdir = path.join(root, "dist", "bench");
mkdirSync(outdir, { recursive: true });

const banner =
  'import { createRequire as __createRequire } from "node:module";\nconst require = __createRequire(import.meta.url);';

/**
 * The AM as it is shipped, but for where its containers come from.
 * @type {import("esbuild").Plugin}
 */
const standInScheduler = {
  name: "stand-in-scheduler",
  setup({ onResolve }) {
    onResolve({ filter: /\/make-scheduler\.ts$/ }, () => ({ path: path.join(root, "bench", "stand-in-scheduler.ts") }));
  },
};

/** @param {string} entry @param {string} name @param {import("esbuild").Plugin[]} [plugins] */
const bundle = (entry, name, plugins = []) =>
  build({
    entryPoints: [path.join(root, entry)],
    outfile: path.join(outdir, `${name}.mjs`),
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20.19",
    minifyWhitespace: true,
    minifySyntax: true,
    banner: { js: banner },
    plugins: [withoutUnusedParts, ...plugins],
    external: ["kerberos", "koffi"],
    logLevel: "warning",
  });

await Promise.all([
  bundle("bench/main.ts", "main"),
  bundle("bench/upload-file.ts", "upload-file"),
  bundle("bench/calls-and-bytes.ts", "calls-and-bytes"),
  bundle("am/main.ts", "am-with-stand-in", [standInScheduler]),
]);
await import(pathToFileURL(path.join(outdir, "main.mjs")).href);
