/** @typedef {import("dependency-cruiser").IForbiddenRuleType & { readonly name: string }} NamedRule */

/** The client's rooms and the files beside them, each using those below it. docs/makers/architecture.md says what is in which. */
export const clientRooms = [
  "main.ts",
  "library.ts",
  "commands/",
  "migration/",
  "azkaban/",
  "command-line/",
  "submission/",
  "following/",
  "sessions/",
  "results/",
  "logs/",
  "master/",
  "applications/",
  "tokens/",
  "printed-json.ts",
  "shipping/",
  "cluster/",
  "context.ts",
  "output/",
  "staging/",
];

/** The executor's, in the same order. */
export const executorRooms = [
  "main.ts",
  "executor.ts",
  "executor-end.ts",
  "reports.ts",
  "generation/",
  "api/",
  "remote-shell/",
  "sessions/",
  "carrier/",
  "master/",
  "feeds/",
  "preparation/",
  "program/",
  "monitoring/",
  "output/",
  "processes/",
  "core/",
  "timers.ts",
  "file-systems.ts",
  "task-tokens.ts",
  "settings.ts",
  "exit-codes.ts",
];

/** The ApplicationMaster's, in the same order. */
export const masterRooms = [
  "main.ts",
  "probe.ts",
  "master.ts",
  "job-end.ts",
  "master-endpoint.ts",
  "shell.ts",
  "page/",
  "notices/",
  "make-scheduler.ts",
  "attempt-watch.ts",
  "stillness.ts",
  "idleness.ts",
  "signals.ts",
  "clients/",
  "executors/",
  "tokens/",
  "keytab/",
  "search/",
  "storage/",
  "mailbox.ts",
  "settings.ts",
  "scheduler/",
  "core/",
  "bounded.ts",
];

/** The core's rooms, and the files beside them, in the same order. */
export const coreRooms = [
  "status/",
  "invariants.ts",
  "core.ts",
  "wake-up.ts",
  "executors/",
  "failures/",
  "job/",
  "gang/",
  "containers/",
  "journal/",
  "policies/",
  "feeds/",
  "state/",
  "store/",
];

/** The layers of src/hadoop, each using those below it. src/hadoop/README.md says what is in which. */
export const hadoopLayers = [
  "main.ts",
  "yarn/",
  "hdfs/",
  "rpc/",
  "http/",
  "security/",
  "wire/",
  "conf/",
  "clock.ts",
  "back-off.ts",
  "connecting.ts",
  "errors.ts",
  "json.ts",
  "glob.ts",
  "process-owner.ts",
];

/**
 * A rule for each room of a folder: it imports nothing from those above it.
 * @param {string} folder
 * @param {readonly string[]} rooms
 * @returns {NamedRule[]}
 */
function downward(folder, rooms) {
  return rooms.slice(1).map((room, index) => ({
    name: `${folder.replace("/", "-")}-${room.replace(/\/$|\.ts$/, "")}-imports-downward`,
    comment: "a room uses only those below it",
    severity: "error",
    from: { path: `^${folder}/${room}` },
    to: { path: `^${folder}/(${rooms.slice(0, index + 1).join("|")})` },
  }));
}

/**
 * The walls of the architecture: what may not import what.
 * @type {readonly NamedRule[]}
 */
export const forbidden = [
  { name: "no-cycles", severity: "error", from: {}, to: { circular: true } },
  {
    name: "src-is-a-leaf",
    comment: "the library imports nothing from the programs",
    severity: "error",
    from: { path: "^src/" },
    to: { path: "^(am|executor|client|portal)/" },
  },
  {
    name: "programs-are-apart",
    comment: "no program imports another",
    severity: "error",
    from: { path: "^(am|executor|client|portal)/" },
    to: { path: "^(am|executor|client|portal)/", pathNot: "^$1/" },
  },
  {
    name: "hadoop-stands-alone",
    comment: "src/hadoop knows nothing of training jobs and could be its own package tomorrow",
    severity: "error",
    from: { path: "^src/hadoop/" },
    to: { path: "^(src|am|executor|client|portal)/", pathNot: "^src/hadoop/" },
  },
  {
    name: "core-is-pure",
    comment:
      "am/core imports itself, what is pure in src/job (see test/walls.test.ts), and the messages; nothing of Node",
    severity: "error",
    from: { path: "^am/core/" },
    to: { pathNot: "^(am/core/|src/job/|src/moves\\.ts$|src/api/messages\\.ts$)" },
  },
  {
    name: "executor-core-is-pure",
    comment:
      "executor/core imports itself, what is pure in src/job, and the messages with what judges them; nothing of Node",
    severity: "error",
    from: { path: "^executor/core/" },
    to: {
      pathNot:
        "^(executor/core/|src/job/|src/moves\\.ts$|src/api/(messages|fence|keepalive)\\.ts$|src/hadoop/back-off\\.ts$)",
    },
  },
  ...downward("client", clientRooms),
  ...downward("executor", executorRooms),
  ...downward("am", masterRooms),
  ...downward("am/core", coreRooms),
  {
    name: "hadoop-transports-are-apart",
    comment: "HDFS is spoken over HTTP; the two transports know nothing of each other",
    severity: "error",
    from: { path: "^src/hadoop/(rpc|http|hdfs)/" },
    to: { path: "^src/hadoop/(rpc|http)/", pathNot: ["^src/hadoop/$1/", "^src/hadoop/http/"] },
  },
  ...downward("src/hadoop", hadoopLayers),
  // An optional peer: a checkout has it only where somebody installed it.
  { name: "no-unresolvable", severity: "error", from: {}, to: { couldNotResolve: true, pathNot: "^kerberos$" } },
];

export default {
  forbidden,
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    exclude: { path: "generated/|^dist/" },
    doNotFollow: { path: "node_modules" },
    enhancedResolveOptions: {
      extensions: [".ts", ".js", ".mjs", ".json"],
      exportsFields: ["exports"],
      conditionNames: ["import", "node"],
    },
  },
};
