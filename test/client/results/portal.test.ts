import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { portal } from "../../../client/commands/portal.ts";
import { portalProxies, portalSettings, runPortal } from "../../../client/results/portal.ts";
import { eventually } from "../../support/eventually.ts";
import { recordedContext } from "../support.ts";

describe("what the portal is started with", () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(path.join(tmpdir(), "tony-portal-"));
    const sites = {
      "core-site.xml": { "fs.defaultFS": "hdfs://nn:8020" },
      "yarn-site.xml": { "yarn.resourcemanager.hostname": "rm" },
    };
    for (const [file, settings] of Object.entries(sites)) {
      const properties = Object.entries(settings).map(
        ([name, value]) => `<property><name>${name}</name><value>${value}</value></property>`,
      );
      writeFileSync(path.join(folder, file), `<configuration>${properties.join("")}</configuration>`);
    }
  });
  afterAll(() => rmSync(folder, { recursive: true }));
  const context = () => recordedContext({ environment: { HADOOP_CONF_DIR: folder } });

  test("is the history, the cluster's configuration, and who reads it", () => {
    const conf = [
      "tony.history.location=hdfs:///h",
      "tony.kerberos.keytab=/k",
      "tony.kerberos.principal=ada",
      "dfs.a=1",
      "tony.portal.state-dir=/var/lib/tony-portal",
    ];
    expect(portalSettings(0, conf, { upkeep: "none" }, context())).toMatchObject({
      port: 0,
      configurationFolder: folder,
      hadoop: { "dfs.a": "1" },
      login: { principal: "ada", keytab: "/k" },
      history: { location: "hdfs:///h", timeZone: "UTC" },
      stateFolder: "/var/lib/tony-portal",
    });
  });

  test("is also the gateway, the prices, and the certificates that are trusted, as far as the site names them", () => {
    const settings = (...conf: readonly string[]) =>
      portalSettings(0, ["tony.history.location=/h", ...conf], { upkeep: "none" }, context());
    const without = settings("dfs.a=1");
    expect(without).not.toHaveProperty("gateway");
    expect(without).not.toHaveProperty("proxies");
    expect(without.hadoop).toEqual({ "dfs.a": "1" });
    expect(settings("tony.hdfs.endpoint=http://httpfs:14000").gateway).toBe("http://httpfs:14000");
    const prices = ["tony.cost.gib-hour=0.1", "tony.cost.currency=EUR"];
    expect(settings(...prices).prices).toEqual({ gibHourPrice: 0.1, currency: "EUR" });
    const authority = path.resolve("test/fixtures/trust-stores/ca.pem");
    const { hadoop } = settings("dfs.a=1", `tony.security.ca-file=${authority}`);
    expect(hadoop).toEqual({ "dfs.a": "1", "ssl.client.truststore.pem": expect.stringContaining("BEGIN CERTIFICATE") });
  });

  describe("the program", () => {
    const written = () => path.join(folder, "written.json");
    const run = (program: string) => {
      const bundle = path.join(folder, "program.cjs");
      writeFileSync(bundle, program);
      const environment = { HADOOP_CONF_DIR: folder, WRITTEN: written() };
      const conf = ["tony.history.location=/h"];
      return runPortal(7, conf, { upkeep: "none" }, recordedContext({ environment }), bundle);
    };
    const untilWritten = () => eventually("the line to be read", () => existsSync(written()));
    afterEach(() => {
      rmSync(written(), { force: true });
      for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.removeAllListeners(signal);
    });
    const writesWhatItIsTold = `
      process.stdin.once("data", (line) => {
        const { HADOOP_CONF_DIR, PATH } = process.env;
        require("node:fs").writeFileSync(process.env.WRITTEN, JSON.stringify([JSON.parse(line), HADOOP_CONF_DIR, PATH]));
        process.exit(5);
      });`;

    test("is told by a line, has the environment of its user, and its end is the end", async () => {
      expect(await run(writesWhatItIsTold)).toBe(5);
      const seen: unknown = JSON.parse(readFileSync(written(), "utf8"));
      expect(seen).toMatchObject([{ port: 7, configurationFolder: folder, history: { location: "/h" } }, folder, null]);
    });

    test("has no exit code where a signal ended it", async () => {
      expect(await run('process.kill(process.pid, "SIGKILL");')).toBeUndefined();
    });

    test.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)("is sent what its user's shell sends: %s", async (signal) => {
      const ended = run(`
        process.on("${signal}", () => process.exit(9));
        process.stdin.once("data", () => require("node:fs").writeFileSync(process.env.WRITTEN, ""));`);
      await untilWritten();
      process.emit(signal);
      expect(await ended).toBe(9);
    });
  });

  test("is also for how long which history is kept, where it is asked to keep house", () => {
    const conf = ["tony.history.location=/h", "tony.history.retention-sec=1d", "tony.history.max-size=2g"];
    expect(portalSettings(0, conf, { upkeep: "none" }, context())).not.toHaveProperty("upkeep");
    expect(portalSettings(0, conf, { upkeep: "whole" }, context()).upkeep).toEqual({
      isDryRun: false,
      moverIntervalMs: 300_000,
      purgerIntervalMs: 21_600_000,
      keepMs: 86_400_000,
      keepFailedMs: 7_776_000_000,
      maxMiB: 2048,
    });
    const limited = [...conf, "tony.history.max-jobs=1000"];
    expect(portalSettings(0, limited, { upkeep: "dry-run" }, context()).upkeep).toMatchObject({
      isDryRun: true,
      maxJobs: 1000,
    });
  });

  test.each([
    [[], "tony.history.location is not set: jobs keep no history"],
    [["tony.history.location=h"], "tony.history.location is h: the portal takes an absolute path or a URL"],
  ])("needs to be told where the history is: %j", (conf, message) => {
    expect(() => portalSettings(0, conf, { upkeep: "none" }, context())).toThrow(
      expect.objectContaining({ code: "NO_HISTORY", message: expect.stringContaining(message) }),
    );
  });

  describe("settings that mean nothing", () => {
    const history = "tony.history.location=/h";
    const settings = (conf: readonly string[], site?: string) => {
      if (site !== undefined) writeFileSync(path.join(folder, "tony-site.xml"), site);
      const environment = { HADOOP_CONF_DIR: folder, TONY_CONF_DIR: site === undefined ? "" : folder };
      return portalSettings(0, conf, { upkeep: "dry-run" }, recordedContext({ environment }));
    };

    test.each([
      ["tony.history.retention-sec=-5", "-conf: tony.history.retention-sec must be a duration"],
      ["tony.history.max-jobs=abc", "-conf: tony.history.max-jobs must be a whole number"],
      ["tony.history.max-size=10k", "-conf: tony.history.max-size must be"],
      ["tony.history.retention-secs=31536000", "did you mean tony.history.retention-sec?"],
    ])("keep it from starting, because it removes by them: %s", (wrong, message) => {
      expect(() => settings([history, wrong])).toThrow(message);
    });

    test("are told with their place in the site's file", () => {
      const site = [
        "<configuration>",
        "<property><name>tony.history.retention-secs</name><value>31536000</value></property>",
        "<property><name>tony.history.max-jobs</name><value>two</value></property>",
        "</configuration>",
      ].join("\n");
      const place = path.join(folder, "tony-site.xml");
      expect(() => settings([history], site)).toThrow(
        new RegExp(
          `${place}:2: tony.history.retention-secs is not a key.*\\n${place}:3: tony.history.max-jobs must be`,
        ),
      );
    });

    test("are also those of a site's folder that is not there", () => {
      const environment = { HADOOP_CONF_DIR: folder, TONY_CONF_DIR: "/nonexist" };
      expect(() => portalSettings(0, [history], { upkeep: "none" }, recordedContext({ environment }))).toThrow(
        "TONY_CONF_DIR: /nonexist is not a folder, so no tony-site.xml is read",
      );
    });

    test("are warned of where they do nothing", () => {
      const context = recordedContext({ environment: { HADOOP_CONF_DIR: folder } });
      portalSettings(0, [history, "tony.nonsense.at-all=1"], { upkeep: "none" }, context);
      expect(context.err.text).toContain("warning: tony.nonsense.at-all has no effect");
    });
  });

  describe("people who log in at the portal", () => {
    const history = "tony.history.location=/h";
    const files = [history, "tony.portal.tls-certificate=/c.pem", "tony.portal.tls-key=/k.pem"];
    const settings = (conf: string[], choice: object = {}) =>
      portalSettings(0, conf, { upkeep: "none", ...choice }, context());

    test("do so by Kerberos or a certificate, at that address", () => {
      expect(settings([history])).not.toHaveProperty("door");
      const keytab = [...files, "tony.portal.spnego-keytab=/http.keytab"];
      const door = { listen: "127.0.0.1", certificate: "/c.pem", key: "/k.pem", keytab: "/http.keytab" };
      expect(settings(keytab).door).toEqual(door);
      const both = settings([...keytab, "tony.portal.client-ca=/ca.pem"], { listen: "::" });
      expect(both.door).toEqual({ ...door, listen: "::", clientAuthority: "/ca.pem" });
    });

    test("or at proxies, which the portal believes at the address that they reach", () => {
      const proxies = { listen: "::", addresses: ["192.0.2.7"], header: "x-user" };
      expect(settings([history], { proxies, listen: "::" })).toMatchObject({ proxies });
    });

    test.each([
      [files, {}, "Nothing says how people log in"],
      [[history, "tony.portal.tls-key=/k.pem"], {}, "set both tony.portal.tls-certificate and tony.portal.tls-key"],
      [
        [history, "tony.portal.tls-certificate=/c.pem"],
        {},
        "set both tony.portal.tls-certificate and tony.portal.tls-key",
      ],
      [[history, "tony.portal.spnego-keytab=/k"], {}, "set both tony.portal.tls-certificate and tony.portal.tls-key"],
      [[history], { listen: "::" }, "--listen is for people who log in"],
      [[history], { listen: "all" }, "--listen takes an IP address, not all"],
      [
        [...files, "tony.portal.client-ca=/ca.pem"],
        { proxies: { listen: "::", addresses: ["192.0.2.7"], header: "x-user" } },
        "not at both",
      ],
    ])("are told of in full: %j %j", (conf, choice, message) => {
      expect(() => settings(conf, choice)).toThrow(message);
    });
  });
});

describe("proxies that log people in", () => {
  const none = { listen: undefined, proxy: undefined, "user-header": undefined };

  test("are believed what they say in that header", () => {
    expect(portalProxies(none)).toBeUndefined();
    const said = { ...none, proxy: ["192.0.2.7"], "user-header": "X-Forwarded-User" };
    const proxies = { addresses: ["192.0.2.7"], header: "X-Forwarded-User" };
    expect(portalProxies(said)).toEqual({ listen: "127.0.0.1", ...proxies });
    expect(portalProxies({ ...said, listen: "::" })).toEqual({ listen: "::", ...proxies });
  });

  test.each([
    [{ "user-header": "X-User" }, "--proxy and --user-header go together"],
    [{ proxy: ["192.0.2.7", "gate"], "user-header": "X-User" }, "--proxy takes an IP address, not gate"],
    [{ proxy: ["192.0.2.7"] }, "--proxy and --user-header go together"],
    [{ proxy: ["gate"], "user-header": "X-User" }, "--proxy takes an IP address, not gate"],
    [{ proxy: ["192.0.2.7"], "user-header": "X User" }, "X User is not a header's name"],
  ])("are said in full: %j", (options, message) => {
    expect(() => portalProxies({ ...none, ...options })).toThrow(message);
  });
});

test("the portal's verb is portal", () => {
  expect([portal.verb, portal.usage]).toEqual(["portal", "tony-ts portal"]);
});
