import { get } from "node:http";
import { json, text } from "node:stream/consumers";
import { afterAll, afterEach, describe, expect, test } from "@jest/globals";
import { testCluster } from "../support/cluster.ts";
import { eventually } from "../support/eventually.ts";
import { oneTask, Person } from "../support/person.ts";
import { sweep } from "../support/sweep.ts";

const cluster = await testCluster();

/** What YARN's proxy answers. */
async function through<T>(url: string, accept: string, read: (stream: NodeJS.ReadableStream) => Promise<T>) {
  return await new Promise<{ readonly status: number | undefined; readonly body: T }>((resolve, reject) => {
    const take = (body: T, status: number | undefined) => resolve({ status, body });
    // As browsers spell it: the proxy passes on no header in small letters.
    get(url, { headers: { Accept: accept } }, (response) => {
      read(response).then((body) => take(body, response.statusCode), reject);
    }).on("error", reject);
  });
}

describe("the page of a job that runs, through YARN's proxy", () => {
  const alice = new Person(cluster);
  afterEach(() => sweep(cluster));
  afterAll(() => alice.leave());

  test("is served with and without the last slash, and shows the job to who has its whole address", async () => {
    const job = alice.job("<b> page", {
      ...oneTask,
      "tony.worker.command": `echo '{"step": 7, "metrics": {"loss": 0.5}}' >> $TONY_PROGRESS_FILE; sleep 600`,
    });
    const submitted = await alice.run("submit", "--detach", job);
    const id = submitted.stdout.trim();
    const page = await eventually("the page", async () => {
      const { exitCode, stdout } = await alice.run("page", id, "--address");
      return exitCode === 0 ? stdout.trim() : undefined;
    });
    const [address = "", key = ""] = page.split("#");
    for (const url of [address, address.replace(/\/$/, "")])
      expect(await through(url, "text/html", text)).toMatchObject({
        status: 200,
        body: expect.stringMatching(/^<!doctype html>/),
      });

    const live = `${address}api/v1/live?since=0&task=worker:0`;
    const everybody = await through(live, "application/json", json);
    expect(everybody).toMatchObject({ status: 200, body: { mayLook: false, job: { name: "<b> page" } } });
    expect(everybody.body).not.toHaveProperty("tasks");
    const seen = await eventually("the step", async () => {
      const { body } = await through(live, `application/json; key=${key}`, text);
      return body.includes('"step":7') ? JSON.parse(body) : undefined;
    });
    expect(seen).toMatchObject({
      mayLook: true,
      tasks: { all: 1, rows: [{ task: "worker:0", state: "running", metrics: { loss: 0.5 } }] },
      chart: { task: "worker:0" },
    });
    expect(await through(`${address}elsewhere`, "text/html", text)).toMatchObject({ status: 404 });
    const here = alice.start("page", id);
    const [, door = "", token = ""] = await here.output(/(http:\S+)#(\S+) shows/);
    expect(await through(`${door}api/v1/live`, `application/json; key=${token}`, json)).toMatchObject({
      body: { mayLook: true, tasks: { all: 1 } },
    });
    expect(await through(`${door}api/v1/live`, "application/json", json)).toMatchObject({ status: 403 });
    await alice.run("kill", id);
    expect(await here.ended).toMatchObject({
      exitCode: 0,
      stderr: expect.stringContaining(`${id} has ended (killed)`),
    });
    expect(await alice.run("page", id, "--address")).toMatchObject({
      exitCode: 3,
      stderr: expect.stringContaining("has ended"),
    });
  });
});
