// Makes a program of ours of a head that starts it (src/start) and its code: behind the head, in a comment, or in a file beside it.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { build, transform } from "esbuild";

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));

/**
 * Parts that no program of ours uses, by package and import name, each with its replacement. In gRPC: the protobufjs of its debugging service
 * (channelz) and the trees in which that would find channels and sessions, ways to spread calls over several servers, the measurements for these
 * (ORCA), ways through proxies, which each of our channels switches off (src/api/tls.ts), its exports for other packages, and all of its package.json
 * except the version. In protobufjs: its own RPC. In pino: logging in another thread, redaction, several logs as one, and serializers for errors,
 * requests, responses and circular objects: our lines consist of texts and numbers.
 * @type {Readonly<Record<string, Readonly<Record<string, string>>>>}
 */
const unusedParts = {
  "@grpc/grpc-js": {
    "@grpc/proto-loader": "module.exports = {};",
    "./load-balancer-outlier-detection": "exports.setup = () => {};",
    "./load-balancer-round-robin": "exports.setup = () => {};",
    "./load-balancer-weighted-round-robin": "exports.setup = () => {};",
    "./experimental": "module.exports = {};",
    "./http_proxy":
      "exports.mapProxyName = (target) => ({ target, extraOptions: {} }); exports.getProxiedConnection = async () => null;",
    "@js-sdsl/ordered-map":
      "exports.OrderedMap = class { setElement() {} eraseElementByKey() {} getElementByKey() {} find() { return { equals: () => true }; } end() {} };",
    "./orca": "exports.PerRequestMetricRecorder = class {};",
    "../../package.json": `exports.version = ${JSON.stringify(grpcVersion())};`,
  },
  protobufjs: { "./rpc": "module.exports = {};" },
  pino: {
    "./transport": "module.exports = undefined;",
    "./lib/transport": "module.exports = undefined;",
    "./redaction": "module.exports = undefined;",
    "./lib/redaction": "module.exports = undefined;",
    "./lib/multistream": "module.exports = undefined;",
    "pino-std-serializers": "exports.err = (error) => error;",
    "safe-stable-stringify": "exports.configure = () => JSON.stringify;",
  },
};

function grpcVersion() {
  return JSON.parse(readFileSync(path.join(root, "node_modules/@grpc/grpc-js/package.json"), "utf8")).version;
}

/**
 * An esbuild plugin that saves a fifth of gRPC and half of pino.
 * @type {import("esbuild").Plugin}
 */
export const withoutUnusedParts = {
  name: "without-unused-parts",
  setup({ onResolve, onLoad }) {
    for (const [name, parts] of Object.entries(unusedParts)) {
      const namespace = `unused-${name}`;
      onResolve({ filter: /^[.@ps]/ }, ({ path: part, importer }) =>
        part in parts && importer.includes(`/node_modules/${name}/`) ? { path: part, namespace } : undefined,
      );
      onLoad({ filter: /.*/, namespace }, ({ path: part }) => ({ contents: parts[part] ?? "", loader: "js" }));
    }
  },
};

/**
 * An esbuild plugin that drops the descriptions in the table of keys, which no program in a container shows.
 * @type {import("esbuild").Plugin}
 */
const withoutDocsOfKeys = {
  name: "without-docs-of-keys",
  setup({ onLoad }) {
    onLoad({ filter: /\/src\/job\/keys\/[a-z-]+\.ts$/ }, ({ path: file }) => ({
      contents: readFileSync(file, "utf8").replace(/(?<=\bdoc:\s+)"(?:[^"\\]|\\.)*"/g, '""'),
      loader: "ts",
    }));
  },
};

/**
 * An esbuild plugin: our programs send requests and read answers; only tests and users of the library need the other direction.
 * @type {import("esbuild").Plugin}
 */
const oneWayCodecs = {
  name: "one-way-codecs",
  setup({ onLoad }) {
    onLoad({ filter: /\/src\/hadoop\/wire\/generated\/yarn\.js$/ }, ({ path: file }) => ({
      contents: readFileSync(file.replace(/\.js$/, ".one-way.js"), "utf8"),
    }));
  },
};

/** @satisfies {import("esbuild").BuildOptions} */
const common = {
  absWorkingDir: root,
  bundle: true,
  platform: /** @type {const} */ ("node"),
  target: "node20.19",
  // Names are kept, so that stack traces in logs stay readable.
  minifyWhitespace: true,
  minifySyntax: true,
  alias: {
    // Otherwise both of its forms would be included: protobufjs requires it, and we import it.
    long: path.join(root, "node_modules/long/umd/index.js"),
    // Its modules, of which the bundle includes only the used ones; the form that Node imports is one piece.
    yaml: path.join(root, "node_modules/yaml/browser/dist/index.js"),
  },
  metafile: /** @type {const} */ (true),
  write: /** @type {const} */ (false),
  logLevel: /** @type {const} */ ("silent"),
};

/**
 * @param {import("esbuild").BuildOptions} options `entryPoints`, `outfile`, and what differs from ours
 * @param {{ readonly forPeople?: boolean }} [form] `forPeople`: it is a command that a person types; it explains keys, and keeps its compiled code itself
 * @returns esbuild's files, the program among them as it is to be written, in the order in which it is to be written, and its `metafile`
 */
export async function bundleProgram({ define = {}, plugins = [], ...options }, { forPeople = false } = {}) {
  const result = await build({
    ...options,
    ...common,
    format: "cjs",
    // Dynamic imports in a script are experimental in Node, which would print a warning.
    supported: { "dynamic-import": false },
    // A parameter of the head's wrapper.
    define: { "import.meta.url": "__url", ...define },
    plugins: [withoutUnusedParts, oneWayCodecs, ...(forPeople ? [] : [withoutDocsOfKeys]), ...plugins],
  });
  const files = await Promise.all(
    result.outputFiles.map(async ({ path: file, text, contents }) =>
      file.endsWith(".cjs") ? await withHead(file, text, forPeople) : [{ path: file, contents }],
    ),
  );
  return { files: files.flat(), metafile: result.metafile };
}

/**
 * @param {string} name a CommonJS package
 * @returns the package as one module, with a named export for each of its own
 */
export async function bundlePackage(name) {
  const names = Object.keys(createRequire(import.meta.url)(name)).filter((key) => key !== "default");
  const { outputFiles } = await build({
    ...common,
    stdin: {
      contents: `import * as all from ${JSON.stringify(name)};\nexport const { ${names.join(", ")} } = all;\n`,
      resolveDir: root,
    },
    format: "esm",
    banner: {
      js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
    },
    plugins: [withoutUnusedParts],
  });
  return Buffer.concat(outputFiles.map(({ contents }) => contents));
}

/** The code is a function with these parameters, which the head calls. */
const wrapper = "(function (module, require, __filename, __dirname, __url) {";

/**
 * @param {string} file
 * @param {string} bundled
 * @param {boolean} forPeople
 */
async function withHead(file, bundled, forPeople) {
  const code = await inOneLine(`${wrapper}${bundled.trimEnd()}})`);
  const sha256 = createHash("sha256").update(code).digest("hex");
  const { outputFiles } = await build({
    ...common,
    entryPoints: ["src/start/main.ts"],
    format: "cjs",
    define: { CODE_SHA256: JSON.stringify(sha256), FOR_PEOPLE: String(forPeople) },
  });
  const head = outputFiles.map(({ text }) => text).join("");
  if (!forPeople) return [{ path: file, contents: Buffer.from(`${head}\n//${code}\n`) }];
  return [
    { path: file.replace(/cjs$/, "code.js"), contents: Buffer.from(code) },
    { path: file, contents: Buffer.from(`#!/usr/bin/env node\n${head}`) },
  ];
}

/**
 * As a comment and as Latin-1 it has to be one line of ASCII. esbuild leaves line breaks in templates alone, and escapes strings, but not
 * regular expressions.
 * @param {string} code
 */
async function inOneLine(code) {
  const line = code.replaceAll("\n", "\\n");
  const wide = /.{0,40}[^\0-\x7f].{0,40}/.exec(line);
  if (wide !== null) throw new Error(`not ASCII; write the character as \\u…: ${wide[0]}`);
  const [before, after] = await Promise.all([code, line].map((text) => transform(text, { minifyWhitespace: true })));
  if (before?.code !== after?.code) throw new Error("a line break that is not a template's, or is a raw one's");
  return line;
}
