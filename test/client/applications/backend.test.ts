import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import type { Applications } from "../../../client/applications/applications.ts";
import {
  checkId,
  isApplicationId,
  openApplications,
  openByName,
  openLocalApplications,
} from "../../../client/applications/backend.ts";
import { LocalApplications } from "../../../client/applications/local-applications.ts";
import { localRoot, newLocalFolder } from "../../../client/applications/local-folder.ts";
import { YarnApplications } from "../../../client/applications/yarn-applications.ts";
import { ownerName } from "../../../src/hadoop/process-owner.ts";
import { StandInManager } from "../stand-in-manager.ts";
import { recordedContext } from "../support.ts";

const onCluster = "application_1795305600000_0001";
const onMachine = "local_1795305600000_0001";

test("an id has the number of an application with four digits at least, as YARN writes it", () => {
  expect([onCluster, "application_1795305600000_12345", onMachine].map(isApplicationId)).toEqual([true, true, true]);
  const others = ["application_1795305600000_001", "application_1795305600000_1", "local_1795305600000_00001", "foo"];
  expect(others.map(isApplicationId)).toEqual([false, false, false, false]);
  expect(() => checkId("application_1795305600000_001")).toThrow(
    '"application_1795305600000_001" is not an application\'s id; they look like application_1795305600000_0001',
  );
});

describe("the place where an application is known", () => {
  let folder: string;
  let manager: StandInManager;
  let hasCluster: Readonly<Record<string, string>>;
  const opened: Applications[] = [];
  beforeEach(async () => {
    folder = mkdtempSync(path.join(tmpdir(), "backend-"));
    manager = await StandInManager.start(folder);
    hasCluster = { HADOOP_CONF_DIR: manager.configuration, HADOOP_USER_NAME: "ada" };
  });
  afterEach(async () => {
    for (const applications of opened.splice(0)) applications.close();
    await manager.stop();
    rmSync(folder, { recursive: true });
  });
  const context = (environment: Readonly<Record<string, string>> = {}) =>
    recordedContext({ environment: { XDG_STATE_HOME: folder, ...environment } });
  async function place(opens: Promise<Applications>): Promise<Applications> {
    const applications = await opens;
    opened.push(applications);
    return applications;
  }

  test("is the cluster or this machine, as its id says", async () => {
    expect(await place(openApplications(onCluster, undefined, context(hasCluster)))).toBeInstanceOf(YarnApplications);
    expect(await place(openApplications(onMachine, undefined, context(hasCluster)))).toBeInstanceOf(LocalApplications);
    await expect(openApplications("foo", undefined, context(hasCluster))).rejects.toThrow(
      '"foo" is not an application\'s id',
    );
  });

  test("is the cluster for names, and this machine where no cluster is configured", async () => {
    expect(await place(openByName(undefined, context(hasCluster)))).toBeInstanceOf(YarnApplications);
    expect(await place(openByName(undefined, context()))).toBeInstanceOf(LocalApplications);
  });

  test("is asked as who asks, with the settings of the command line", async () => {
    const settings = ["tony.staging-dir=s3a://bucket/staging"];
    const cluster = await place(openApplications(onCluster, settings, context(hasCluster)));
    expect(cluster.user).toBe("ada");
    await expect(cluster.sweep()).rejects.toThrow(/s3a/);
    await expect(openApplications(onCluster, ["tony.security.ca-file=/none.pem"], context(hasCluster))).rejects.toThrow(
      /\/none\.pem/,
    );
  });

  test("tells the time by the clock of who asks", async () => {
    const there = context(hasCluster);
    const kept = path.join(folder, "staging", "history-ada");
    mkdirSync(kept, { recursive: true });
    writeFileSync(path.join(kept, `${onCluster}.json`), "{}");
    const longAgoS = (there.now() - 31 * 86_400_000) / 1_000;
    utimesSync(path.join(kept, `${onCluster}.json`), longAgoS, longAgoS);
    const settings = [`tony.staging-dir=file://${folder}/staging`];
    await (await place(openApplications(onCluster, settings, there))).sweep();
    expect(readdirSync(kept)).toEqual([]);

    const { id } = newLocalFolder(localRoot({ XDG_STATE_HOME: folder }), there.now() - 3_600_000);
    expect(await (await place(openLocalApplications(there))).report(id)).toMatchObject({ state: "FAILED" });
  });

  test("is on this machine the folder of its jobs, each known for its owner's", async () => {
    const local = await place(openLocalApplications(context()));
    expect(local.user).toBe(ownerName());
    expect(local.folder?.(onMachine)).toBe(path.join(localRoot({ XDG_STATE_HOME: folder }), onMachine));
  });
});
