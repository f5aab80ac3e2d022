const shared = {
  extensionsToTreatAsEsm: [".ts"],
  transform: {
    "\\.ts$": ["@swc/jest", { jsc: { parser: { syntax: "typescript" }, target: "es2022" }, module: { type: "es6" } }],
  },
  testEnvironment: "<rootDir>/test/support/jest-environment.mjs",
  setupFilesAfterEnv: ["<rootDir>/test/support/has-assertions.mjs"],
  modulePathIgnorePatterns: ["<rootDir>/dist", "<rootDir>/.cluster"],
};

/** `unit` needs Node alone; `cluster` the real daemons, one file at a time (see scripts/test.mjs); `images` buildah and mmdebstrap;
 * `package` npm. */
export default {
  // Far more than any test takes: it ends what hangs, and judges no machine.
  testTimeout: 120_000,
  // Jest would leave one core to others: of two that is half of the machine. Suites on clusters say --runInBand.
  maxWorkers: "100%",
  // Node 20 keeps some megabytes of each file's modules, which each collection of garbage walks through; a process that holds many is
  // replaced by a new one.
  workerIdleMemoryLimit: "500MB",
  testSequencer: "<rootDir>/test/support/sequence.mjs",
  // With `--coverage`, which the phase `unit` has in `npm run test:all`: scripts/test/coverage.mjs reads it. Istanbul's counters take less
  // than V8's, whose every range is mapped back through a source map.
  coverageDirectory: "<rootDir>/coverage",
  coverageReporters: ["json-summary"],
  collectCoverageFrom: ["{am,client,executor,src}/**/*.ts", "!**/generated/**"],
  projects: [
    {
      ...shared,
      displayName: "unit",
      // The programs' folders have no tests: coverage counts files there that no test loads.
      roots: ["test", "am", "client", "executor", "portal", "src"].map((folder) => `<rootDir>/${folder}`),
      testMatch: ["<rootDir>/test/**/*.test.{ts,mjs}"],
      testPathIgnorePatterns: [
        "/node_modules/",
        "<rootDir>/test/(documents|integration|e2e|schedulers|matrix|storage|faults|ha|secure|images|package|prometheus)/",
      ],
    },
    {
      ...shared,
      displayName: "cluster",
      roots: ["<rootDir>/test"],
      testMatch: ["<rootDir>/test/(documents|integration|e2e|schedulers|matrix|storage|faults|ha|secure)/**/*.test.ts"],
      globalSetup: "<rootDir>/test/support/cluster-setup.mjs",
      setupFilesAfterEnv: [...shared.setupFilesAfterEnv, "<rootDir>/test/support/cluster-timeout.mjs"],
      globalTeardown: "<rootDir>/test/support/cluster-teardown.mjs",
    },
    {
      ...shared,
      displayName: "images",
      roots: ["<rootDir>/test/images"],
    },
    {
      ...shared,
      displayName: "package",
      roots: ["<rootDir>/test/package"],
    },
    {
      ...shared,
      displayName: "prometheus",
      roots: ["<rootDir>/test/prometheus"],
    },
  ],
};
