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
  projects: [
    {
      ...shared,
      displayName: "unit",
      roots: ["<rootDir>/test"],
      testPathIgnorePatterns: [
        "/node_modules/",
        "<rootDir>/test/(documents|integration|e2e|schedulers|faults|images|package)/",
      ],
    },
    {
      ...shared,
      displayName: "cluster",
      roots: ["<rootDir>/test"],
      testMatch: ["<rootDir>/test/(documents|integration|e2e|schedulers|faults)/**/*.test.ts"],
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
  ],
};
