import { describe, expect, test } from "@jest/globals";
import { readSiteSettings } from "../../../client/cluster/site-settings.ts";
import { recordedContext } from "../support.ts";

const read = (conf: Readonly<Record<string, string>>, environment: Readonly<Record<string, string>> = {}) =>
  readSiteSettings(
    Object.entries(conf).map(([key, value]) => `${key}=${value}`),
    recordedContext({ environment }),
  );

describe("a site's settings, for commands without a job", () => {
  test("are what Hadoop and TonY have by default where nothing is set", () => {
    expect(read({})).toEqual({
      queue: "default",
      trustedOwners: [],
      namedRuntimes: {},
      gpuTypes: ["yarn.io/gpu"],
      prices: {},
      history: { timeZone: "UTC" },
      portalDoor: {},
      upkeep: {
        moverIntervalMs: 300_000,
        purgerIntervalMs: 21_600_000,
        keepMs: 2_592_000_000,
        keepFailedMs: 7_776_000_000,
      },
      hadoop: {},
      problems: [],
    });
  });

  test("are each what its key says, and Hadoop's own keys are kept as they stand", () => {
    expect(
      read({
        "tony.yarn.queue": "ml",
        "tony.staging-dir": "hdfs://nn/staging",
        "tony.cache.dir": "hdfs://nn/cache",
        "tony.cache.trusted-owners": "etl,ops",
        "tony.node.binary": "local:/opt/node",
        "tony.node.binary.x64": "hdfs://nn/x64",
        "tony.node.binary.arm64": "hdfs://nn/arm64",
        "tony.hdfs.endpoint": "http://gateway:14000",
        "tony.gpu-resource-types": "nvidia.com/gpu",
        "tony.cost.vcore-hour": "0.5",
        "tony.cost.currency": "EUR",
        "tony.security.ca-file": "/ca.pem",
        "tony.kerberos.keytab": "/ada.keytab",
        "tony.kerberos.principal": "ada@EXAMPLE.COM",
        "tony.docker.enabled": "true",
        "tony.docker.containers.image": "tasks:1",
        "tony.docker.am.image": "master:1",
        "tony.history.location": "/history",
        "tony.history.intermediate": "/history/running",
        "tony.history.finished": "/history/ended",
        "tony.history.finished-dir-timezone": "Europe/Berlin",
        "tony.portal.state-dir": "/var/portal",
        "tony.portal.tls-certificate": "/portal.crt",
        "tony.portal.tls-key": "/portal.key",
        "tony.portal.client-ca": "/clients.pem",
        "tony.portal.spnego-keytab": "/http.keytab",
        "tony.history.max-jobs": "7",
        "tony.history.max-size": "8g",
        "tony.history.mover-interval-ms": "1000",
        "tony.history.purger-interval-ms": "2000",
        "tony.history.retention-sec": "30",
        "tony.history.retention-failed-sec": "40",
        "dfs.replication": "2",
      }),
    ).toEqual({
      queue: "ml",
      stagingDir: "hdfs://nn/staging",
      cacheDir: "hdfs://nn/cache",
      trustedOwners: ["etl", "ops"],
      nodeBinary: "local:/opt/node",
      namedRuntimes: {
        x64: { value: "hdfs://nn/x64", at: "-conf" },
        arm64: { value: "hdfs://nn/arm64", at: "-conf" },
      },
      gateway: "http://gateway:14000",
      gpuTypes: ["nvidia.com/gpu"],
      prices: { vcoreHourPrice: 0.5, currency: "EUR" },
      caFile: "/ca.pem",
      login: { keytab: "/ada.keytab", principal: "ada@EXAMPLE.COM" },
      image: { YARN_CONTAINER_RUNTIME_TYPE: "docker", YARN_CONTAINER_RUNTIME_DOCKER_IMAGE: "master:1" },
      history: {
        timeZone: "Europe/Berlin",
        location: "/history",
        intermediate: "/history/running",
        finished: "/history/ended",
      },
      portalState: "/var/portal",
      portalDoor: {
        certificate: "/portal.crt",
        key: "/portal.key",
        clientAuthority: "/clients.pem",
        keytab: "/http.keytab",
      },
      upkeep: {
        moverIntervalMs: 1_000,
        purgerIntervalMs: 2_000,
        keepMs: 30_000,
        keepFailedMs: 40_000,
        maxJobs: 7,
        maxMiB: 8_192,
      },
      hadoop: { "dfs.replication": "2" },
      problems: [],
    });
  });

  test("may name a runtime for one architecture alone", () => {
    expect(read({ "tony.node.binary.arm64": "hdfs://nn/arm64" }).namedRuntimes).toEqual({
      arm64: { value: "hdfs://nn/arm64", at: "-conf" },
    });
  });

  test("with a value that means nothing are read without it, and it is told", () => {
    const { upkeep, problems } = read({ "tony.history.max-jobs": "two" });
    expect(upkeep).not.toHaveProperty("maxJobs");
    expect(problems).toMatchObject([{ severity: "error", at: "-conf", key: "tony.history.max-jobs" }]);
  });

  test("are all missing where the site's folder is: an error, though a job would run without it", () => {
    expect(read({}, { TONY_CONF_DIR: "/nonexist" }).problems).toMatchObject([
      { severity: "error", at: "TONY_CONF_DIR", message: expect.stringContaining("/nonexist is not a folder") },
    ]);
  });

  test("may be doubtful, which stays a warning, and are told in order", () => {
    expect(read({ "tony.wroker.memory": "1g", "tony.history.max-jobs": "two" }).problems).toMatchObject([
      { severity: "warning" },
      { severity: "error", key: "tony.history.max-jobs" },
    ]);
  });

  test("that cannot be read at all are refused", () => {
    expect(() => readSiteSettings(["/nonexist.xml"], recordedContext({}))).toThrow(
      expect.objectContaining({ name: "UserError", code: "JOB_INVALID" }),
    );
  });
});
