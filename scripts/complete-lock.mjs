// Run after every change of dependencies. A registry mirror may lack optional packages of other platforms; npm then leaves them out of
// the lock file and `npm ci` refuses it. This adds an entry for each, with the platform that its name tells, so that npm skips it by platform.
import { readFileSync } from "node:fs";
import { replaceFile } from "./replace-file.mjs";

const operatingSystems = ["android", "darwin", "freebsd", "linux", "openharmony", "win32", "wasm32"];
const processors = ["arm64", "arm", "x64", "ia32", "ppc64", "s390x", "riscv64", "loong64"];

/** The platform in a package's name: `@swc/core-win32-arm64-msvc` is win32 on arm64. */
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
lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([left], [right]) => (left < right ? -1 : 1)));
replaceFile("package-lock.json", `${JSON.stringify(lock, null, 2)}\n`);
console.log(`${added.length} packages of other platforms added to package-lock.json`);
