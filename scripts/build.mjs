// Builds what the package ships: the programs (dist/programs) and the library with its types (dist/lib).
// Another process that uses these files meanwhile never finds one half written or missing, and unchanged files are not
// replaced.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { isBuiltin } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { bundlePackage, bundleProgram } from "./bundle.mjs";
import { makePage } from "./page.mjs";
import { Problem, runMain, wordsOf } from "./problem.mjs";
import { replaceFile } from "./replace-file.mjs";
import { sbom } from "./sbom.mjs";

/** @import { Metafile } from "esbuild" */

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const megabyte = 1e6;

/**
 * `limit` is the largest bundle in bytes. Programs that run in containers contain no native module: they must load on any
 * node, whatever is installed there.
 * @typedef {{ name: string, entry: string, limit: number, optionalNative: string[] }} Program
 * @type {readonly Program[]}
 */
const programs = [
  // The key-value store takes 25 kB, none of which uses memory before the store is used; the process that asks Optuna 5 kB.
  { name: "am", entry: "am/main.ts", limit: 1.49 * megabyte, optionalNative: [] },
  // Its decisions are in a separate core, like the ApplicationMaster's: events, effects and tables take 6 kB.
  { name: "executor", entry: "executor/main.ts", limit: 0.98 * megabyte, optionalNative: [] },
  { name: "tokens", entry: "am/keytab/main.ts", limit: 0.5 * megabyte, optionalNative: ["kerberos", "koffi"] },
  // Use of jobs that YARN ended, starts of counters, and messages about trouble take 6 kB.
  { name: "portal", entry: "portal/main.ts", limit: 0.62 * megabyte, optionalNative: ["kerberos", "koffi"] },
  // The messages of the key-value store and its command take 34 kB, advice on the next run and its texts 26 kB.
  { name: "tony-ts", entry: "client/main.ts", limit: 2.27 * megabyte, optionalNative: ["kerberos", "koffi"] },
];

/** Shipped unchanged, for a job's Python. */
const pythonPrograms = ["am/search/optuna_trials.py"];

/** Folders of generated modules, which the compiler takes types from but does not copy. */
const generatedFolders = ["src/hadoop/wire/generated"];

/** Version of the package, and the revision where this is a checkout: `0.1.0+1a2b3c4d5e6f`. */
function buildId() {
  const { version } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8"));
  const git = spawnSync("git", ["rev-parse", "--short=12", "HEAD"], { cwd: root, encoding: "utf8" });
  return git.status === 0 && existsSync(path.join(root, ".git")) ? `${version}+${git.stdout.trim()}` : version;
}

/** @param {...string} command of Node */
function run(...command) {
  const result = spawnSync(process.execPath, command, { cwd: root, encoding: "utf8" });
  if (result.status !== 0) throw new Problem(`${command[0]} failed:\n${result.stdout}${result.stderr}`);
}

/** @param {Program} program */
async function bundle(program) {
  const target = path.join(root, "dist/programs", `${program.name}.cjs`);
  const { files, metafile } = await bundleProgram(
    {
      entryPoints: [program.entry],
      outfile: target,
      define: { TONY_BUILD_ID: JSON.stringify(buildId()) },
      external: program.optionalNative,
      legalComments: "external",
    },
    { forPeople: program.name === "tony-ts" },
  ).catch((error) => {
    throw new Problem(`${program.entry} could not be bundled:\n${wordsOf(error)}`, { cause: error });
  });
  check(program, metafile);
  for (const file of files) replaceFile(file.path, file.contents, 0o755);
  return {
    program: path.basename(target),
    bytes: programIn(metafile).bytes,
    packages: packagesOf(metafile),
    files: files.map((file) => path.basename(file.path)),
  };
}

/** The packages whose code is in a bundle: `@grpc/grpc-js@1.14.7`. @param {Metafile} metafile */
function packagesOf({ inputs }) {
  const folders = Object.keys(inputs).flatMap(
    (file) => /^.*\bnode_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(file)?.[0] ?? [],
  );
  return [...new Set(folders)].map((folder) => {
    const { name, version } = JSON.parse(readFileSync(path.join(root, folder, "package.json"), "utf8"));
    return `${name}@${version}`;
  });
}

/** @param {Metafile} metafile */
function programIn({ outputs }) {
  const [, output] = Object.entries(outputs).find(([name]) => name.endsWith(".cjs")) ?? [];
  if (output === undefined) throw new Error(`no program among ${Object.keys(outputs).join(", ")}`);
  return output;
}

/**
 * Refuses a bundle that would not load everywhere, or that has grown by an unintended package. @param {Program} program @param {Metafile}
 * metafile
 */
function check(program, metafile) {
  const { bytes, inputs } = programIn(metafile);
  if (bytes > program.limit) {
    const largest = Object.entries(inputs)
      .sort(([, a], [, b]) => b.bytesInOutput - a.bytesInOutput)
      .slice(0, 10)
      .map(([name, { bytesInOutput }]) => `  ${bytesInOutput} ${name}`);
    throw new Problem(`${program.name}.cjs has ${bytes} bytes, more than ${program.limit}:\n${largest.join("\n")}`);
  }
  const native = Object.keys(metafile.inputs).filter((name) => name.endsWith(".node"));
  const foreign = Object.values(metafile.outputs)
    .flatMap((output) => output.imports)
    .filter(({ path: name, external }) => external && !isBuiltin(name) && !program.optionalNative.includes(name))
    .map(({ path: name }) => name);
  const unwanted = [...native, ...foreign];
  if (unwanted.length > 0) throw new Problem(`${program.name}.cjs would need ${unwanted.join(", ")} beside it`);
}

/** Packages that the library contains: installing them would run an install script of one of their dependencies, which is of no use here. */
const within = ["@grpc/grpc-js"];

async function compileLibrary() {
  const target = path.join(root, "dist/lib");
  const draft = mkdtempSync(path.join(tmpdir(), "tony-lib-"));
  try {
    run("node_modules/typescript/bin/tsc", "-p", "tsconfig.lib.json", "--outDir", draft);
    const library = new Map(filesBelow(draft).map((name) => [name, path.join(draft, name)]));
    for (const folder of generatedFolders) {
      for (const name of filesBelow(path.join(root, folder)).filter((file) => /^\w+\.(js|d\.ts)$/.test(file)))
        library.set(path.join(folder, name), path.join(root, folder, name));
    }
    for (const [name, file] of library) replaceFile(path.join(target, name), importingWithin(name, readFileSync(file)));
    for (const name of within) replaceFile(path.join(target, placeWithin(name)), await bundlePackage(name));
    removeOthers(target, [...library.keys(), ...within.map(placeWithin)]);
  } finally {
    rmSync(draft, { recursive: true });
  }
}

/** @param {string} name */
const placeWithin = (name) => `packages/${path.basename(name)}.js`;

/**
 * A module of the library, with imports of those packages redirected to the copies inside it. Type declarations keep the
 * packages' names.
 * @param {string} file @param {Buffer} content
 */
function importingWithin(file, content) {
  if (!file.endsWith(".js")) return content;
  const text = within.reduce((code, name) => {
    const place = path.relative(path.dirname(file), placeWithin(name));
    return code.replaceAll(` from "${name}";`, ` from "${place}";`);
  }, content.toString("utf8"));
  return Buffer.from(text);
}

/** Removes files with other names from an earlier build, which would be shipped too. @param {string} folder @param {string[]} names */
function removeOthers(folder, names) {
  for (const name of filesBelow(folder)) if (!names.includes(name)) rmSync(path.join(folder, name));
}

/** Paths relative to the folder. @param {string} folder */
function filesBelow(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)));
}

await runMain(async () => {
  run("scripts/proto.mjs");
  const existing = programs.filter(({ entry }) => existsSync(path.join(root, entry)));
  const bundles = await Promise.all(existing.map(bundle));
  run("node_modules/typescript/bin/tsc", "-p", "page");
  const pages = await Promise.all(["page", "portal", "compare"].map((name) => makePage(root, name)));
  for (const { file, content } of pages) replaceFile(path.join(root, "dist/programs", file), content);
  for (const file of pythonPrograms)
    replaceFile(path.join(root, "dist/programs", path.basename(file)), readFileSync(path.join(root, file)));
  const names = [
    ...pages.map(({ file }) => file),
    ...pythonPrograms.map((file) => path.basename(file)),
    ...bundles.flatMap(({ files }) => files),
  ];
  removeOthers(path.join(root, "dist/programs"), names);
  await compileLibrary();
  const packages = [...new Set(bundles.flatMap((each) => each.packages))];
  replaceFile(path.join(root, "dist/sbom.cdx.json"), sbom(root, packages));
  for (const { program, bytes } of bundles)
    console.log(`dist/programs/${program}  ${(bytes / megabyte).toFixed(2)} MB`);
  for (const { file, content } of pages) console.log(`dist/programs/${file}  ${Math.ceil(content.length / 1000)} kB`);
  console.log("dist/lib");
});
