/** The walls of the architecture: what may not import what. */
export default {
  forbidden: [
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
      comment: "am/core imports itself and what is pure in src/job (see test/walls.test.ts), and nothing of Node",
      severity: "error",
      from: { path: "^am/core/" },
      to: { pathNot: "^(am/core/|src/job/)" },
    },
    { name: "no-unresolvable", severity: "error", from: {}, to: { couldNotResolve: true } },
  ],
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
