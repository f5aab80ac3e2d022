// Run after every change of dependencies.
//
// A registry mirror may lack optional packages for other platforms; npm then omits them from the lock file, and `npm ci` refuses it.
// This script adds an entry for each, with the platform in its name, so that npm skips it by platform.
//
// Where the lock file has no address for a package, `npm ci` first fetches the description of all its versions: half of all bytes. An
// address with a registry's host would bind everybody to that registry. So each package gets the path that every registry uses, on a
// host that npm replaces by the registry in use (`replace-registry-host` in .npmrc).
import { readFileSync } from "node:fs";
import { replaceFile } from "./replace-file.mjs";

const operatingSystems = ["android", "darwin", "freebsd", "linux", "openharmony", "win32", "wasm32"];
const processors = ["arm64", "arm", "x64", "ia32", "ppc64", "s390x", "riscv64", "loong64"];

/**
 * The platform in a package's name: `@swc/core-win32-arm64-msvc` is win32 on arm64.
 * @param {string} name
 */
function platformOf(name) {
  const words = name.split(/[-/]/);
  const os = operatingSystems.find((candidate) => words.includes(candidate));
  const cpu = processors.find((candidate) => words.includes(candidate));
  const libc = words.includes("musl") || words.includes("musleabihf") ? "musl" : undefined;
  return { ...(cpu && { cpu: [cpu] }), ...(os && { os: [os] }), ...(libc && { libc: [libc] }) };
}

const lock = JSON.parse(readFileSync("package-lock.json", "utf8"));
const added = [];
for (const owner of Object.values(lock.packages)) {
  for (const [name, version] of Object.entries(owner.optionalDependencies ?? {})) {
    const key = `node_modules/${name}`;
    const platform = platformOf(name);
    if (lock.packages[key] || !platform.os || !/^\d/.test(version)) continue;
    lock.packages[key] = { version, ...platform, ...(owner.dev && { dev: true }), optional: true };
    added.push(name);
  }
}
for (const [path, entry] of Object.entries(lock.packages)) {
  if (!path.includes("node_modules/") || entry.link) continue;
  const {
    name = path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length),
    version,
    resolved: _,
    ...rest
  } = entry;
  const resolved = `https://npm.invalid/${name}/-/${name.replace(/^@[^/]+\//, "")}-${version}.tgz`;
  lock.packages[path] = { ...(entry.name && { name }), version, resolved, ...rest };
}
lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([left], [right]) => (left < right ? -1 : 1)));
replaceFile("package-lock.json", `${JSON.stringify(lock, null, 2)}\n`);
console.log(`${added.length} packages of other platforms added to package-lock.json`);
