import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "@jest/globals";
import {
  configurationFolder,
  describeFolder,
  noConfiguration,
  readClusterConfiguration,
  schedulerGuess,
  schedulerWords,
} from "../../../client/cluster/hadoop-configuration.ts";
import { UserError } from "../../../src/errors.ts";
import { Configuration } from "../../../src/hadoop/conf/configuration.ts";
import { recordedContext } from "../support.ts";

describe("the folder of the configuration", () => {
  test("is looked for where Hadoop's own commands look, and named", () => {
    const environment = { HADOOP_HOME: "/opt/hadoop" };
    const usual = configurationFolder(environment, (file) => file === "/etc/hadoop/conf/core-site.xml");
    expect(usual).toEqual({ path: "/etc/hadoop/conf", namedBy: [] });
    expect(usual && describeFolder(usual)).toBe("HADOOP_CONF_DIR is not set; /etc/hadoop/conf is used");
    expect(configurationFolder(environment, () => true)?.path).toBe("/opt/hadoop/etc/hadoop");
    expect(configurationFolder({ ...environment, YARN_CONF_DIR: "/b" }, () => true)?.path).toBe("/b");
    expect(configurationFolder({ ...environment, HADOOP_CONF_DIR: "/a" }, () => true)?.path).toBe("/a");
    expect(configurationFolder({}, () => false)).toBeUndefined();
    expect(configurationFolder({ HADOOP_HOME: "/usr/hdp" }, (file) => file.includes("/conf/"))?.path).toBe(
      "/usr/hdp/conf",
    );
  });

  test.each(["HADOOP_PREFIX", "HADOOP_COMMON_HOME", "HADOOP_YARN_HOME", "YARN_HOME"])(
    "may be below %s, of an older Hadoop or of one of its parts",
    (variable) => {
      const environment = { HADOOP_HOME: "/nowhere", [variable]: "/usr/part" };
      expect(configurationFolder(environment, (file) => file.startsWith("/usr/part"))?.path).toBe(
        "/usr/part/etc/hadoop",
      );
    },
  );

  test("may be several in HADOOP_CONF_DIR, and another one in YARN_CONF_DIR beside", () => {
    const found = (environment: Record<string, string>) => {
      const folder = configurationFolder(environment, () => false);
      return folder && describeFolder(folder);
    };
    expect(found({ HADOOP_CONF_DIR: "/a:/b" })).toBe("HADOOP_CONF_DIR is /a:/b");
    expect(found({ HADOOP_CONF_DIR: "/a:" })).toBe("HADOOP_CONF_DIR is /a");
    expect(found({ HADOOP_CONF_DIR: ":" })).toBeUndefined();
    expect(found({ HADOOP_CONF_DIR: "/a", YARN_CONF_DIR: "/b:/a" })).toBe(
      "HADOOP_CONF_DIR and YARN_CONF_DIR are /a:/b",
    );
  });
});

const root = mkdtempSync(join(tmpdir(), "tony-configuration-"));
afterAll(() => rmSync(root, { recursive: true }));

type Properties = Readonly<Record<string, string>>;
const hdfs = { "fs.defaultFS": "hdfs://nn:8020" };
const yarn = { "yarn.resourcemanager.hostname": "rm" };

/** A folder with these of Hadoop's files. */
function site(files: Readonly<Record<string, Properties>>): string {
  const folder = mkdtempSync(join(root, "conf-"));
  for (const [file, properties] of Object.entries(files)) {
    const xml = Object.entries(properties).map(
      ([name, value]) => `<property><name>${name}</name><value>${value}</value></property>`,
    );
    writeFileSync(join(folder, file), `<configuration>${xml.join("")}</configuration>`);
  }
  return folder;
}

const read = (folder: string, overrides?: Properties, environment: Properties = {}) =>
  readClusterConfiguration(recordedContext({ environment: { HADOOP_CONF_DIR: folder, ...environment } }), overrides);

const noCluster = "NO_CLUSTER, exit code 3: ";
const remedy =
  "\n  Set HADOOP_CONF_DIR to the folder with the cluster's core-site.xml, hdfs-site.xml and yarn-site.xml." +
  "\n  Or run the job on this machine alone: tony-ts submit job.xml --scheduler local (a search: tony-ts search job.xml --scheduler local)";

/** What a person is told who has no cluster there. */
function refusal(folder: string, overrides?: Properties): string {
  try {
    read(folder, overrides);
  } catch (error) {
    if (error instanceof UserError) return `${error.code}, exit code ${error.exitCode}: ${error.message}`;
  }
  return "";
}

describe("the configuration of a cluster", () => {
  test("is the site's, with the job's own settings laid over it and the caller's variables in it", () => {
    const folder = site({
      "core-site.xml": { ...hdfs, "hadoop.tmp.dir": `\${env.SCRATCH}/hadoop` },
      "yarn-site.xml": { ...yarn, "yarn.acl.enable": "true" },
    });
    const configuration = read(folder, { "yarn.acl.enable": "false" }, { SCRATCH: "/scratch" });
    const found = ["fs.defaultFS", "yarn.acl.enable", "hadoop.tmp.dir"].map((key) => configuration.get(key));
    expect(found).toEqual(["hdfs://nn:8020", "false", "/scratch/hadoop"]);
  });

  test.each([
    ["yarn.resourcemanager.hostname", "rm"],
    ["yarn.resourcemanager.address", "rm:8032"],
    ["yarn.resourcemanager.ha.rm-ids", "rm1,rm2"],
  ])("needs to say where the ResourceManager is, by %s for one, which the job may set too", (key, value) => {
    const silent = site({ "core-site.xml": hdfs, "yarn-site.xml": {} });
    expect(read(silent, { [key]: value }).get(key)).toBe(value);
    expect(refusal(silent)).toBe(
      `${noCluster}${silent}/yarn-site.xml does not say where the ResourceManager is: ` +
        `set yarn.resourcemanager.hostname, yarn.resourcemanager.address or yarn.resourcemanager.ha.rm-ids.${remedy}`,
    );
  });

  test("needs to say which file system the cluster has, which is not this machine's", () => {
    const silent = site({ "core-site.xml": {}, "yarn-site.xml": yarn });
    const words = `${noCluster}${silent}/core-site.xml does not say which file system the cluster has: fs.defaultFS is`;
    expect(refusal(silent)).toBe(`${words} file:///.${remedy}`);
    expect(refusal(silent, { "fs.defaultFS": "file:///home" })).toBe(`${words} file:///home.${remedy}`);
  });

  test("is told to be without the file that should say it, wherever that was looked for", () => {
    const folders = `${site({ "core-site.xml": hdfs })}:${site({ "hdfs-site.xml": {} })}`;
    expect(refusal(folders)).toMatch(
      /: There is no yarn-site\.xml in \/.*\/conf-\w+ or \/.*\/conf-\w+, so nothing says where the ResourceManager is: /,
    );
  });

  test("may be in one of several folders, where the others do not exist", () => {
    const folder = site({ "core-site.xml": hdfs, "yarn-site.xml": yarn });
    expect(read(`/none:${folder}`).get("fs.defaultFS")).toBe("hdfs://nn:8020");
  });

  test("is nowhere where no folder of it exists, and each is named", () => {
    expect(refusal("/none")).toBe(`${noCluster}The Hadoop configuration folder /none does not exist.${remedy}`);
    expect(refusal("/none:/gone")).toBe(
      `${noCluster}None of the Hadoop configuration folders /none, /gone exists.${remedy}`,
    );
  });

  test("that is malformed is told with its file and line, and a job can run on this machine all the same", () => {
    const folder = site({ "yarn-site.xml": yarn });
    writeFileSync(join(folder, "core-site.xml"), "<configuration>\n<property></configuration>");
    const told = refusal(folder);
    expect(told).toMatch(/^NO_CLUSTER, exit code 3: The cluster's configuration cannot be used: .*core-site\.xml:2/);
    expect(told).toContain("\n  Or run the job on this machine alone: ");
  });

  test("that nothing names and no usual place has is told with all places that were looked at, each once", () => {
    const home = join(root, "home");
    mkdirSync(home);
    expect(() => readClusterConfiguration(recordedContext({ environment: { HADOOP_HOME: home } }))).toThrow(
      /^HADOOP_CONF_DIR is not set, so there is no cluster to talk to\./,
    );
    const environment = { HADOOP_HOME: home, YARN_HOME: home };
    expect(noConfiguration(environment)).toMatchObject({
      code: "NO_CLUSTER",
      exitCode: 3,
      message: `HADOOP_CONF_DIR is not set, so there is no cluster to talk to. There is no core-site.xml in ${home}/etc/hadoop or ${home}/conf or /etc/hadoop/conf either.${remedy}`,
    });
  });
});

describe("where ApplicationMasters look for the ResourceManager", () => {
  const key = "yarn.resourcemanager.scheduler.address";
  const configured = (values: Properties) => new Configuration().withValues(values);

  test("is what the configuration says, of which nobody is told", () => {
    const configuration = configured({ "yarn.resourcemanager.address": "rm:18032", [key]: "rm:18030" });
    expect(schedulerWords(configuration)).toBe(`${key} = rm:18030`);
    expect(schedulerGuess(configuration)).toBeUndefined();
  });

  test("is guessed beside the address for clients, of which a person is told", () => {
    const configuration = configured({ "yarn.resourcemanager.address": "rm:18032" });
    const words = `rm:8030, from the host in yarn.resourcemanager.address, because ${key} is not set`;
    expect(schedulerWords(configuration)).toBe(words);
    expect(schedulerGuess(configuration)).toBe(`ApplicationMasters look for the ResourceManager at ${words}`);
  });

  test("is each of several ResourceManagers", () => {
    const ids = { "yarn.resourcemanager.ha.enabled": "true", "yarn.resourcemanager.ha.rm-ids": "a,b" };
    const hosts = { "yarn.resourcemanager.hostname.a": "rm1", "yarn.resourcemanager.hostname.b": "rm2" };
    expect(schedulerWords(configured({ ...ids, ...hosts }))).toMatch(/ = rm1:8030, rm2:8030$/);
  });
});
