// @ts-nocheck
// Generates the protobuf modules from proto/**: static code that encodes and decodes, for the messages that are used, with its types.
// Descriptors would be smaller, but every process would compile its codecs from them at each start.
// The generated folders are not committed; a hash of the inputs says whether they are current.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { shareCodecLines } from "./shared-codec-lines.mjs";

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
/** Loads when there is something to generate: mostly this script finds everything current. */
const buildTools = createRequire(import.meta.url);
const nothingUnused = ["--no-verify", "--no-convert", "--no-create", "--no-delimited", "--no-service", "--no-typeurl"];

/**
 * The generated modules by folder: each has its sources, what protobufjs calls its root, and, where not all is wanted, the methods
 * whose messages are (src/hadoop/wire/methods.ts types them). Hadoop's field names keep their case.
 */
const folders = [
  {
    include: "proto/hadoop",
    output: "src/hadoop/wire/generated",
    keepCase: true,
    modules: [
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
    ],
  },
  { include: "proto/tony", output: "src/api/generated", sources: ["tony"] },
];

/** Hash of every .proto file, of the generator's version and of what is done with it here. */
function inputsHash() {
  const hash = createHash("sha256");
  const files = readdirSync(path.join(root, "proto"), { recursive: true })
    .filter((name) => name.endsWith(".proto"))
    .sort();
  for (const name of files) hash.update(name).update(readFileSync(path.join(root, "proto", name)));
  hash.update(readFileSync(path.join(root, "node_modules/protobufjs-cli/package.json")));
  for (const name of ["proto.mjs", "messages.mjs", "shared-codec-lines.mjs"])
    hash.update(readFileSync(path.join(root, "scripts", name)));
  return hash.digest("hex");
}

/** The messages of these methods with all that they consist of, as protobufjs's JSON descriptor; of all messages without methods. */
function descriptor({ include, keepCase }, { sources, methods }) {
  const protobuf = buildTools("protobufjs");
  const all = new protobuf.Root();
  all.resolvePath = (_origin, target) => path.join(root, include, path.basename(target));
  all.loadSync(
    sources.map((name) => `${name}.proto`),
    { keepCase },
  );
  all.resolveAll();
  if (methods === undefined) return all.toJSON();
  const wanted = new Set();
  const want = (object) => {
    if (object === null || wanted.has(object)) return;
    wanted.add(object);
    want(object.parent);
    if (object instanceof protobuf.Type) for (const field of object.fieldsArray) want(field.resolvedType);
  };
  for (const [service, names] of Object.entries(methods)) {
    for (const name of names) {
      const { resolvedRequestType, resolvedResponseType } = all.lookupService(service).methods[name].resolve();
      want(resolvedRequestType);
      want(resolvedResponseType);
    }
  }
  const dropUnwanted = (namespace) => {
    for (const nested of namespace.nestedArray) {
      if (!wanted.has(nested)) namespace.remove(nested);
      else if (nested instanceof protobuf.Namespace) dropUnwanted(nested);
    }
  };
  dropUnwanted(all);
  return all.toJSON();
}

/** Runs the generator into a folder of this process's own and renames it, so that two runs at once do not mix. */
async function generate(folder, hash) {
  const target = path.join(root, folder.output);
  const draft = `${target}.${process.pid}`;
  mkdirSync(draft, { recursive: true });
  try {
    if (folder.modules === undefined) await generateTables(folder, draft);
    else for (const module of folder.modules) generateModule(folder, module, draft);
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    throw error;
  }
  writeFileSync(path.join(draft, "inputs.sha256"), hash);
  rmSync(target, { recursive: true, force: true });
  renameSync(draft, target);
}

async function generateTables({ include, sources }, draft) {
  const { messageModules } = await import("./messages.mjs");
  for (const [name, code] of Object.entries(messageModules(path.join(root, include), sources)))
    writeFileSync(path.join(draft, name), code);
}

function generateModule(folder, module, draft) {
  const json = path.join(draft, `${module.name}.json`);
  writeFileSync(json, JSON.stringify(descriptor(folder, module)));
  const generator = path.join(root, "node_modules/protobufjs-cli/bin/pbjs");
  const form = ["-t", "static-module", "-w", "esm", "-r", module.name, "--dts", ...nothingUnused];
  const options = folder.keepCase ? [...form, "--keep-case"] : form;
  const output = path.join(draft, `${module.name}.js`);
  const result = spawnSync(process.execPath, [generator, ...options, "-o", output, json], {
    cwd: root,
    encoding: "utf8",
  });
  if (result.status !== 0) throw new Error(`pbjs failed for ${module.name}: ${result.stderr}`);
  // Nobody reads it, every program parses it.
  const code = shareCodecLines(readFileSync(output, "utf8"));
  writeFileSync(output, buildTools("esbuild").transformSync(code, { minify: true }).code);
  rmSync(json);
}

const hash = inputsHash();
for (const folder of folders) {
  const stamp = path.join(root, folder.output, "inputs.sha256");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === hash) continue;
  await generate(folder, hash);
}
