import { once } from "node:events";
import { readFileSync } from "node:fs";
import { request } from "node:http";
import { userInfo } from "node:os";
import { json, text } from "node:stream/consumers";
import { afterAll, afterEach, describe, expect, test } from "@jest/globals";
import { simpleCredentials } from "../../src/hadoop/security/simple-credentials.ts";
import { ResourceManagerClient } from "../../src/hadoop/yarn/resource-manager.ts";
import { ClusterUser, testCluster } from "../support/cluster.ts";
import { eventually } from "../support/eventually.ts";
import { oneTask, Person } from "../support/person.ts";
import { sweep } from "../support/sweep.ts";
import { endpointsOf } from "../support/yarn.ts";

const cluster = await testCluster();
const history = `/user/${ClusterUser.alice}/portal-history`;

/** Whom every Linux has, with a group of that name. */
const portalUser = "daemon";

/** Where YARN's proxy leads a browser to. */
async function ledTo(url: string): Promise<string | undefined> {
  const [response] = await once(request(url, { agent: false }).end(), "response");
  response.resume();
  return response.headers.location;
}

async function fetched<T>(
  url: string,
  read: (stream: NodeJS.ReadableStream) => Promise<T>,
  headers: Readonly<Record<string, string>> = {},
): Promise<T> {
  const sent = request(url, { agent: false, headers });
  sent.end();
  const [response] = await once(sent, "response");
  return await read(response);
}

describe("the portal", () => {
  const alice = new Person(cluster);
  afterEach(() => sweep(cluster));
  afterAll(() => alice.leave());

  test("shows a job that has ended, from its history, by the page that it had while it ran", async () => {
    const settings = {
      ...oneTask,
      "tony.worker.command": "echo boom; exit 3",
      "tony.history.location": history,
      "tony.portal.url": "http://portal.example:1/",
    };
    const { stdout } = await alice.run("submit", alice.job("in the portal", settings));
    const [id = ""] = /application_\d+_\d+/.exec(stdout) ?? [];

    const portal = alice.start("portal", "--port", "0", "--conf", `tony.history.location=${history}`);
    const address = (await portal.output(/http:\S+/))[0];
    const list = await eventually("the job", async () => {
      const found = await fetched(`${address}api/v1/jobs?state=failed&name=${id}`, text);
      return found.includes('"matching":1') ? JSON.parse(found) : undefined;
    });
    const cause = expect.stringContaining("worker:0 exited 3");
    expect(list.rows).toMatchObject([{ name: "in the portal", user: ClusterUser.alice, state: "failed", cause }]);
    expect(await fetched(`${address}jobs/${id}/`, text)).toMatch(/^<!doctype html>/);
    expect(await fetched(`${address}jobs/${id}/api/v1/live`, json)).toMatchObject({
      isFinal: true,
      tasks: { all: 1, rows: [{ task: "worker:0", state: "failed", exit: "3" }] },
      status: { outcome: { cause: { lines: ["boom"] } } },
    });
    expect(await fetched(`${address}metrics`, text)).toContain('result="failed"} ');
    expect(await ledTo(`${cluster.endpoints.resourceManager}/proxy/${id}/`)).toMatch(
      new RegExp(`^http://portal.example:1/jobs/${id}/?$`),
    );
    const believed = ["--proxy", "127.0.0.1", "--user-header", "X-User"];
    const shared = alice.start("portal", "--port", "0", ...believed, "--conf", `tony.history.location=${history}`);
    const asked = `${(await shared.output(/http:\S+/))[0]}jobs/${id}/api/v1/job`;
    expect(await fetched(asked, text, { "X-User": ClusterUser.alice })).toContain("in the portal");
    expect(await fetched(asked, json, { "X-User": "mallory" })).toEqual({
      error: expect.stringContaining(`mallory may not see ${id}: it is ${ClusterUser.alice}'s`),
    });
    shared.process.kill("SIGINT");
    portal.process.kill("SIGINT");
    expect(await portal.ended).toMatchObject({ exitCode: 0 });
  });

  test("removes what is older than it is kept, after it was asked what that is", async () => {
    const place = `/user/${ClusterUser.alice}/kept-history`;
    const settings = { ...oneTask, "tony.worker.command": "true", "tony.history.location": place };
    const id = (await alice.run("submit", alice.job("old", settings))).stdout.match(/application_\d+_\d+/)?.[0];
    const conf = [`tony.history.location=${place}`, "tony.history.retention-sec=0"].flatMap((one) => ["--conf", one]);
    const folder = new RegExp(`remove ${place}/finished/[\\d/]+/${id}, succeeded, `);
    // Its ApplicationMaster moves its history as the last thing that it does, after it told the client its end.
    await eventually("its history among what is finished", async () =>
      folder.test((await alice.run("portal", "--dry-run", ...conf)).stdout) ? true : undefined,
    );

    const portal = alice.start("portal", "--port", "0", "--maintain", ...conf);
    await portal.output(new RegExp(`removed ${place}/finished/[\\d/]+/${id}, succeeded, `));
    portal.process.kill("SIGINT");
    await portal.ended;
    expect((await alice.run("portal", "--dry-run", ...conf)).stdout).toContain("0 to move, 0 to remove, of 0");
  });

  test("of a user of its own reads all jobs of a history whose folders are made as docs/operators.md says", async () => {
    const place = "/portal-of-all";
    await asShown(place);
    const settings = { ...oneTask, "tony.worker.command": "true", "tony.history.location": place };
    const id = (await alice.run("submit", alice.job("for all", settings))).stdout.match(/application_\d+_\d+/)?.[0];
    const keeper = new Person(cluster, portalUser);
    const conf = ["--conf", `tony.history.location=${place}`];
    const portal = keeper.start("portal", "--port", "0", "--maintain", ...conf);
    const address = (await portal.output(/http:\S+/))[0];
    await eventually("its history, which it left to the portal to move", async () => {
      const found = await fetched(`${address}jobs/${id}/api/v1/job`, text);
      return found.includes(`"folder":"${place}/intermediate/${id}"`) && found.includes('"succeeded"')
        ? true
        : undefined;
    });
    portal.process.kill("SIGINT");
    await portal.ended;
    await keeper.leave();
  });

  /** Types the lines of HDFS's superuser that are shown there, by WebHDFS: no Hadoop is installed here. */
  async function asShown(place: string): Promise<void> {
    const superuser = process.getuid?.() === 0 ? "hdfs" : userInfo().username;
    const shown = readFileSync("docs/operators.md", "utf8").match(/(?<=^hdfs dfs ).*/gm) ?? [];
    expect(shown).toHaveLength(4);
    const put = async (folder: string, query: string) => {
      const url = `${cluster.endpoints.webHdfs}${folder}?user.name=${superuser}&${query}`;
      expect([url, (await fetch(url, { method: "PUT" })).status]).toEqual([url, 200]);
    };
    for (const line of shown) {
      const words = line.replaceAll("/shared/tony-history", place).split(" ");
      const [command, mode = ""] = words;
      const folders = words.filter((word) => word.startsWith("/"));
      for (const folder of folders)
        if (command === "-mkdir") await put(folder, "op=MKDIRS");
        else if (command === "-chmod") await put(folder, `op=SETPERMISSION&permission=${mode}`);
        else
          for (const below of ["", "/intermediate", "/finished"])
            await put(folder + below, `op=SETOWNER&owner=${portalUser}&group=${portalUser}`);
    }
  }

  test("shows a job that YARN killed as killed, though nobody wrote its end", async () => {
    const settings = {
      ...oneTask,
      "tony.worker.command": "sleep 3; echo told; sleep 600",
      "tony.history.location": history,
    };
    const id = (await alice.run("submit", "--detach", alice.job("killed", settings))).stdout.trim();
    const manager = new ResourceManagerClient({
      endpoints: endpointsOf(cluster.endpoints.resourceManagerRpc),
      credentials: simpleCredentials({ name: ClusterUser.alice }),
    });
    // Its history is written two seconds after it began.
    await eventually("its program", async () =>
      (await alice.run("logs", id)).stdout.includes("told") ? true : undefined,
    );
    await manager.kill(id);
    manager.close();

    const portal = alice.start("portal", "--port", "0", "--conf", `tony.history.location=${history}`);
    const address = (await portal.output(/http:\S+/))[0];
    const row = await eventually("the job", async () => {
      const found = await fetched(`${address}api/v1/jobs?name=${id}`, text);
      return found.includes('"state":"killed"') ? JSON.parse(found).rows[0] : undefined;
    });
    expect(row).toMatchObject({
      name: "killed",
      endedAtMs: expect.any(Number),
      cause: expect.stringContaining("killed"),
    });
    portal.process.kill("SIGINT");
    await portal.ended;
    // Removes what the job left.
    await alice.run("list");
  });
});
