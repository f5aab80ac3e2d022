// Generates the protobuf modules from proto/**: static code that encodes and decodes the used messages, with types. Descriptors would
// be smaller, but every process would compile its codecs from them at each start. The generated folders are not committed; a hash of
// the inputs says whether they are current.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { shareCodecLines } from "./shared-codec-lines.mjs";

/** @import { NamespaceBase, ReflectionObject, Root } from "protobufjs" */

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
/** Loaded only when there is something to generate: mostly this script finds everything current. */
const require = createRequire(import.meta.url);
/** @returns {typeof import("protobufjs")} */
const protobufjs = () => require("protobufjs");
/** @returns {typeof import("esbuild")} */
const esbuild = () => require("esbuild");
const nothingUnused = ["--no-verify", "--no-convert", "--no-create", "--no-delimited", "--no-service", "--no-typeurl"];

/**
 * A generated module: its sources, the name of its protobufjs root, and, where only some messages are needed, the methods that
 * use them (src/hadoop/wire/methods.ts types them).
 * @typedef {{ name: string, sources: string[], methods?: Record<string, string[]> }} Module
 */

/** @type {readonly Module[]} */
const hadoopModules = [
  { name: "common", sources: ["RpcHeader", "ProtobufRpcEngine2", "IpcConnectionContext", "Security"] },
  {
    name: "yarn",
    sources: ["applicationclient_protocol", "applicationmaster_protocol", "containermanagement_protocol"],
    methods: {
      "hadoop.yarn.ApplicationClientProtocolService": [
        "getNewApplication",
        "getApplicationReport",
        "submitApplication",
        "forceKillApplication",
        "getClusterMetrics",
        "getApplications",
        "getClusterNodes",
        "getQueueInfo",
        "getQueueUserAcls",
        "getContainers",
        "getClusterNodeLabels",
        "getClusterNodeAttributes",
        "getDelegationToken",
        "getResourceTypeInfo",
      ],
      "hadoop.yarn.ApplicationMasterProtocolService": [
        "registerApplicationMaster",
        "allocate",
        "finishApplicationMaster",
      ],
      "hadoop.yarn.ContainerManagementProtocolService": ["startContainers", "stopContainers"],
    },
  },
];

/** The generated folders, and the function that writes the modules of each into a draft of it. */
const folders = [
  {
    output: "src/hadoop/wire/generated",
    generate: async (/** @type {string} */ draft) => {
      for (const module of hadoopModules) generateModule(module, draft);
    },
  },
  { output: "src/api/generated", generate: generateTables },
];

/** A hash of every .proto file, of the generator's version and of its configuration here. */
function inputsHash() {
  const hash = createHash("sha256");
  const files = readdirSync(path.join(root, "proto"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".proto"))
    .sort();
  for (const name of files) hash.update(name).update(readFileSync(path.join(root, "proto", name)));
  hash.update(readFileSync(path.join(root, "node_modules/protobufjs-cli/package.json")));
  for (const name of ["proto.mjs", "messages.mjs", "shared-codec-lines.mjs"])
    hash.update(readFileSync(path.join(root, "scripts", name)));
  return hash.digest("hex");
}

/** All messages of these sources. @param {readonly string[]} sources */
function loaded(sources) {
  const all = new (protobufjs().Root)();
  all.resolvePath = (_origin, target) => path.join(root, "proto/hadoop", path.basename(target));
  all.loadSync(
    sources.map((name) => `${name}.proto`),
    { keepCase: true },
  );
  all.resolveAll();
  return all;
}

/**
 * The requests and the answers of these methods, each with all messages that it contains.
 * @param {Root} all @param {Record<string, string[]>} methods
 */
function messagesOf(all, methods) {
  const protobuf = protobufjs();
  /** @type {Set<ReflectionObject>} */
  const encoded = new Set();
  /** @type {Set<ReflectionObject>} */
  const decoded = new Set();
  /** @type {(object: ReflectionObject | null, found: Set<ReflectionObject>) => void} */
  const find = (object, found) => {
    if (object === null || found.has(object)) return;
    found.add(object);
    find(object.parent, found);
    if (object instanceof protobuf.Type) for (const field of object.fieldsArray) find(field.resolvedType, found);
  };
  for (const [service, names] of Object.entries(methods)) {
    for (const name of names) {
      const method = all.lookupService(service).methods[name];
      if (method === undefined) throw new Error(`${service} has no method ${name}`);
      method.resolve();
      find(method.resolvedRequestType, encoded);
      find(method.resolvedResponseType, decoded);
    }
  }
  return { encoded, decoded };
}

/** @param {NamespaceBase} namespace @param {(object: ReflectionObject) => boolean} isWanted */
function dropUnwanted(namespace, isWanted) {
  for (const nested of namespace.nestedArray) {
    if (!isWanted(nested)) namespace.remove(nested);
    else if (nested instanceof protobufjs().Namespace) dropUnwanted(nested, isWanted);
  }
}

/**
 * @param {string} code of a static module
 * @param {ReturnType<typeof messagesOf>} messages
 * @returns {string} the code without decoders for messages that are only sent, and encoders for those that are only
 * received
 */
function oneWay(code, { encoded, decoded }) {
  const { Type } = protobufjs();
  const without = (/** @type {string} */ text, /** @type {ReflectionObject} */ message, /** @type {string} */ unused) =>
    text.replace(new RegExp(`^( +)${message.name}\\.${unused} = function [^]*?^\\1};\n`, "m"), "");
  const types = [...new Set([...encoded, ...decoded])].filter((object) => object instanceof Type);
  return types.reduce((text, message) => {
    if (!decoded.has(message)) return without(text, message, "decode");
    if (!encoded.has(message)) return without(text, message, "encode");
    return text;
  }, code);
}

/**
 * Generates into a folder of this process's own and renames it, so that concurrent runs do not interfere. @param {typeof folders[number]}
 * folder @param {string} hash
 */
async function generate(folder, hash) {
  const target = path.join(root, folder.output);
  const draft = `${target}.${process.pid}`;
  mkdirSync(draft, { recursive: true });
  try {
    await folder.generate(draft);
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    throw error;
  }
  writeFileSync(path.join(draft, "inputs.sha256"), hash);
  rmSync(target, { recursive: true, force: true });
  renameSync(draft, target);
}

/** @param {string} draft */
async function generateTables(draft) {
  const { messageModules } = await import("./messages.mjs");
  for (const [name, code] of Object.entries(messageModules(path.join(root, "proto/tony"), ["tony"])))
    writeFileSync(path.join(draft, name), code);
}

/**
 * Hadoop's field names keep their case. Bundled programs use `NAME.one-way.js`, which saves a third of the parsing at each
 * start.
 * @param {Module} module @param {string} draft
 */
function generateModule({ name, sources, methods }, draft) {
  const all = loaded(sources);
  const messages = methods && messagesOf(all, methods);
  if (messages) dropUnwanted(all, (object) => messages.encoded.has(object) || messages.decoded.has(object));
  const json = path.join(draft, `${name}.json`);
  writeFileSync(json, JSON.stringify(all.toJSON()));
  const generator = path.join(root, "node_modules/protobufjs-cli/bin/pbjs");
  const form = ["-t", "static-module", "-w", "esm", "-r", name, "--dts", ...nothingUnused];
  const output = path.join(draft, `${name}.js`);
  const result = spawnSync(process.execPath, [generator, ...form, "--keep-case", "-o", output, json], {
    cwd: root,
    encoding: "utf8",
  });
  if (result.status !== 0) throw new Error(`pbjs failed for ${name}: ${result.stderr}`);
  rmSync(json);
  const code = shareCodecLines(readFileSync(output, "utf8"));
  writeFileSync(output, minified(code));
  if (messages) writeFileSync(path.join(draft, `${name}.one-way.js`), minified(oneWay(code, messages)));
}

/** Nobody reads this code, and every program parses it. @param {string} code */
const minified = (code) => esbuild().transformSync(code, { minify: true }).code;

const hash = inputsHash();
for (const folder of folders) {
  const stamp = path.join(root, folder.output, "inputs.sha256");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === hash) continue;
  await generate(folder, hash);
}
