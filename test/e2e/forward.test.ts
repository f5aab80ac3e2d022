import { createHash } from "node:crypto";
import { get } from "node:http";
import { buffer } from "node:stream/consumers";
import { afterAll, afterEach, describe, expect, test } from "@jest/globals";
import { testCluster } from "../support/cluster.ts";
import { oneTask, Person } from "../support/person.ts";
import { sweep } from "../support/sweep.ts";

const cluster = await testCluster();
const size = 50_000_000;

/** The SHA-256 of what is at a URL. */
async function hashOf(url: string): Promise<string> {
  const body = await new Promise<Buffer>((resolve, reject) => {
    get(url, (response) => void buffer(response).then(resolve, reject)).on("error", reject);
  });
  return createHash("sha256").update(body).digest("hex");
}

describe("a port of a task's node", () => {
  const alice = new Person(cluster);
  afterEach(() => sweep(cluster));
  afterAll(() => alice.leave());

  test("is forwarded, for several requests at once, until the job ends", async () => {
    const job = alice.job("forward", {
      ...oneTask,
      "tony.worker.command":
        `head -c ${size} /dev/urandom > big; sha256sum big; ` +
        'python3 -m http.server --bind 127.0.0.1 "$TB_PORT" & ' +
        'until (: <>"/dev/tcp/127.0.0.1/$TB_PORT") 2>/dev/null; do sleep 0.1; done; echo serves $TB_PORT; ' +
        "until [ -e stop ]; do sleep 0.2; done; sleep 2",
    });
    const submitted = alice.start("submit", job);
    const [, id = ""] = await submitted.output(/(application_\d+_\d+)/);
    const [, hash = ""] = await submitted.output(/([0-9a-f]{64}) {2}big/);
    const [, port = ""] = await submitted.output(/serves (\d+)/);

    const forward = alice.start("forward", id, "worker:0", port, "--json");
    const [, address = ""] = await forward.output(/"address":"([^"]+)"/);
    // The server is on this machine's loopback, too: what is forwarded has another port.
    expect(address).not.toBe(`127.0.0.1:${port}`);
    const requests = [`http://${address}/big`, `http://${address}/big`, `http://${address}/big`];
    expect(await Promise.all(requests.map(hashOf))).toEqual([hash, hash, hash]);

    const interrupted = alice.start("forward", id, "worker:0", port);
    await interrupted.output(/127\.0\.0\.1:\d+ is forwarded to port \d+ of worker:0; Ctrl-C ends it/);
    interrupted.process.kill("SIGINT");
    expect(await interrupted.ended).toMatchObject({ exitCode: 0, stderr: "" });
    expect(await alice.run("forward", id, "worker:7", port)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining(`${id} has no task worker:7; there are worker:0`),
    });

    expect(await alice.run("exec", id, "worker:0", "--", "touch", "stop")).toMatchObject({ exitCode: 0 });
    await submitted.ended;
    expect(await forward.ended).toMatchObject({
      exitCode: 0,
      stderr: expect.stringContaining(`${id} has ended (`),
    });
    // On a secure cluster by her principal.
    expect((await alice.run("logs", id, "am")).stdout).toMatch(
      new RegExp(`alice(@\\S+)? opens a connection in worker:0: to port ${port}\\.`),
    );
    expect(await alice.run("tensorboard", id)).toMatchObject({
      exitCode: 3,
      stderr: expect.stringContaining("python3 -m tensorboard.main --logdir FOLDER"),
    });
  });

  test("a job's TensorBoard is forwarded as soon as it runs, and is asked for in vain where there is none", async () => {
    const serves = 'mkdir -p www && echo "the board" > www/index.html && cd www && exec python3 -m http.server';
    const job = alice.job("board", {
      ...oneTask,
      "tony.worker.command": "echo begun; sleep 600",
      "tony.tensorboard.memory": "512m",
      "tony.application.tensorboard-log-dir": "hdfs:///logs",
      "tony.tensorboard.command": `${serves} --bind "$NM_HOST" "$TB_PORT"`,
    });
    const submitted = alice.start("submit", job);
    const [, id = ""] = await submitted.output(/(application_\d+_\d+)/);
    await submitted.output(/begun/);
    const board = alice.start("tensorboard", id);
    const [, url = ""] = await board.output(/(http:\/\/127\.0\.0\.1:\d+) is forwarded to port \d+ of tensorboard:0/);
    const shown = await new Promise<Buffer>((resolve, reject) => {
      get(url, (response) => void buffer(response).then(resolve, reject)).on("error", reject);
    });
    expect(String(shown)).toBe("the board\n");
    board.process.kill("SIGTERM");
    expect((await board.ended).exitCode).toBe(0);
    await alice.run("kill", id);
    await submitted.ended;

    const none = alice.job("none", { ...oneTask, "tony.worker.command": "echo begun; sleep 600" });
    const other = alice.start("submit", none);
    const [, otherId = ""] = await other.output(/(application_\d+_\d+)/);
    await other.output(/begun/);
    expect(await alice.run("tensorboard", otherId)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("set tony.application.tensorboard-log-dir"),
    });
    await alice.run("kill", otherId);
    await other.ended;
  });
});
