// Generates the protobuf modules from proto/**: JSON descriptors with full typings, some 140 kB instead of 3 MB of static code.
// The generated folders are not committed; a hash of the inputs says whether they are current.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));

const hadoopFiles = [
  "RpcHeader",
  "ProtobufRpcEngine2",
  "IpcConnectionContext",
  "Security",
  "yarn_protos",
  "yarn_service_protos",
  "applicationclient_protocol",
  "applicationmaster_protocol",
  "containermanagement_protocol",
  "yarn_security_token",
].map((name) => `proto/hadoop/${name}.proto`);

/** One generated module: its protobufjs root's name, its sources and its folder. Hadoop's field names keep their case. */
const modules = [
  {
    name: "hadoop",
    sources: hadoopFiles,
    include: "proto/hadoop",
    output: "src/hadoop/wire/generated",
    flags: ["--keep-case"],
  },
  {
    name: "tony",
    sources: ["proto/tony/tony.proto"],
    include: "proto/tony",
    output: "src/api/generated",
    flags: [],
  },
];

/** Hash of every .proto file, of the generator's version and of this script. */
function inputsHash() {
  const hash = createHash("sha256");
  const files = readdirSync(path.join(root, "proto"), { recursive: true })
    .filter((name) => name.endsWith(".proto"))
    .sort();
  for (const name of files) hash.update(name).update(readFileSync(path.join(root, "proto", name)));
  hash.update(readFileSync(path.join(root, "node_modules/protobufjs-cli/package.json")));
  hash.update(readFileSync(fileURLToPath(import.meta.url)));
  return hash.digest("hex");
}

/** Runs the generator into a folder of this process's own and renames it, so that two runs at once do not mix. */
function generate({ name, sources, include, output, flags }, hash) {
  const target = path.join(root, output);
  const draft = `${target}.${process.pid}`;
  mkdirSync(draft, { recursive: true });
  const generator = path.join(root, "node_modules/protobufjs-cli/bin/pbjs");
  const options = ["-t", "json-module", "-w", "esm", "-r", name, ...flags, "--dts", "-p", include];
  const result = spawnSync(
    process.execPath,
    [generator, ...options, "-o", path.join(draft, `${name}.js`), ...sources],
    {
      cwd: root,
      encoding: "utf8",
    },
  );
  if (result.status !== 0) {
    rmSync(draft, { recursive: true, force: true });
    throw new Error(`pbjs failed for ${sources.join(" ")}: ${result.stderr}`);
  }
  writeFileSync(path.join(draft, "inputs.sha256"), hash);
  rmSync(target, { recursive: true, force: true });
  renameSync(draft, target);
}

const hash = inputsHash();
for (const module of modules) {
  const stamp = path.join(root, module.output, "inputs.sha256");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === hash) continue;
  generate(module, hash);
}
