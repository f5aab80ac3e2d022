import { afterEach, describe, expect, it } from "@jest/globals";
import { ownersDoor } from "../../support/api.ts";
import { eventually } from "../../support/eventually.ts";
import { type SceneOptions, SessionScene } from "../../support/session-scene.ts";

const scenes: SessionScene[] = [];
afterEach(async () => {
  for (const scene of scenes.splice(0)) await scene.close();
});

async function open(options?: SceneOptions): Promise<SessionScene> {
  const scene = await SessionScene.open(options);
  scenes.push(scene);
  return scene;
}

const sleeping = { type: "command", words: ["sleep", "1000"] } as const;

describe("sessions at the ApplicationMaster", () => {
  it("are served by the task's executor, and recorded with who, what and how it ended", async () => {
    const scene = await open();
    const run = scene.command("sh", "-c", "echo out; exit 7");
    expect(await run.end()).toEqual({ type: "exited", exitCode: 7, signal: "" });
    await scene.commands.next((type) => type === "end-session");
    expect(scene.records).toEqual([
      { type: "session-opened", session: 1, by: "alice", kind: "command", command: "sh -c 'echo out; exit 7'" },
      { type: "session-ended", session: 1, how: "exit 7" },
    ]);
  });

  it("are recorded by no more of what is run, and of why it ended, than people read", async () => {
    const scene = await open({ deaf: true });
    scene.fromExecutor("worker:0", { type: "command", words: ["x".repeat(100_000)] });
    await scene.commands.next((type) => type === "serve-session");
    const serving = scene.stream.serveSession();
    await serving.send({ type: "accept", sessionId: 1 });
    serving.finish({ type: "failed", reason: "y".repeat(100_000) });
    await eventually("both records", () => scene.records.length === 2);
    expect(scene.records).toMatchObject([{ command: `${"x".repeat(4_096)}…` }, { how: `${"y".repeat(4_096)}…` }]);
  });

  it("are open to executors of the job too, which stand for their tasks", async () => {
    const scene = await open();
    const run = scene.fromExecutor("worker:0", { type: "command", words: ["echo", "from inside"] });
    expect(await run.end()).toEqual({ type: "exited", exitCode: 0, signal: "" });
    expect(run.texts.stdout).toBe("from inside\n");
    expect(scene.records[0]).toMatchObject({ type: "session-opened", by: "worker:0" });
  });

  it("are refused to who may not run anything in the job, and nothing is asked of the executor", async () => {
    const refusal = async (_caller: string, right: string) => `carol lacks the right ${right}`;
    const scene = await open({ door: { ...ownersDoor, refusal } });
    const { session } = scene.command("true");
    expect(await session.over).toMatchObject({
      code: "API_FORBIDDEN",
      message: expect.stringContaining("carol lacks the right run"),
    });
    expect(scene.commands.rest).not.toContain("serve-session");
    expect(scene.records).toEqual([]);
  });

  it.each([
    ["chief:0", { reason: "there is no chief:0", noSuchTask: true }],
    ["worker:1", { reason: "worker:1 has no executor at present" }],
  ])("say why there is none with %s", async (task, why) => {
    const scene = await open();
    expect(await scene.run(sleeping, task).end()).toEqual({ type: "failed", ...why });
  });

  it("are as many as 64 with one task", async () => {
    const scene = await open({ deaf: true });
    for (let count = 0; count < 64; count++) scene.run(sleeping);
    await eventually(
      "all are asked for",
      () => scene.commands.rest.filter((one) => one === "serve-session").length === 64,
    );
    expect(await scene.run(sleeping).end()).toEqual({
      type: "failed",
      reason: "too many sessions are open with worker:0",
    });
    expect(scene.sessions.anyCommand).toBe(true);
    scene.sessions.endAll("the test goes on");
    await eventually("none is open", () => !scene.sessions.anyCommand);
    scene.run(sleeping);
    await eventually("there is room again", () => scene.sessions.anyCommand);
  });

  it("are 16 of a task of the job with one task: others get in, people too", async () => {
    const scene = await open({ deaf: true });
    for (let count = 0; count < 16; count++) scene.fromExecutor("worker:0", sleeping);
    const asked = () => scene.commands.rest.filter((one) => one === "serve-session").length;
    await eventually("all are asked for", () => asked() === 16);
    expect(await scene.fromExecutor("worker:0", sleeping).end()).toEqual({
      type: "failed",
      reason: "too many sessions are open with worker:0",
    });
    scene.run(sleeping);
    await eventually("its owner's is asked for", () => asked() === 17);
  });

  it("that an executor has accepted may take their time", async () => {
    const scene = await open();
    const run = scene.run(sleeping);
    await run.started();
    await scene.clock.pass(60_000);
    scene.sessions.endAll("the test has ended");
    expect(await run.end()).toEqual({ type: "failed", reason: "the test has ended" });
  });

  it("end when the executor does not answer", async () => {
    const scene = await open({ deaf: true });
    const run = scene.run(sleeping);
    await scene.commands.next((type) => type === "serve-session");
    await scene.clock.pass(10_000);
    expect(await run.end()).toEqual({ type: "failed", reason: "the executor of worker:0 does not answer" });
  });

  it("end when the job ends", async () => {
    const scene = await open();
    const run = scene.run(sleeping);
    await run.started();
    scene.sessions.endAll("the job has ended");
    expect(await run.end()).toEqual({ type: "failed", reason: "the job has ended" });
  });

  it("end when the executor is lost", async () => {
    const scene = await open({ deaf: true });
    const run = scene.run(sleeping);
    await scene.commands.next((type) => type === "serve-session");
    const serving = scene.stream.serveSession();
    await serving.send({ type: "accept", sessionId: 1 });
    await serving.send({ type: "started", terminal: false });
    await run.started();
    serving.cancel();
    expect(await run.end()).toEqual({ type: "failed", reason: "the executor of worker:0 was lost" });
  });

  it("end at the executor when the caller goes, though it never read its input", async () => {
    const scene = await open();
    const run = scene.run(sleeping);
    await run.started();
    const flood = Buffer.alloc(65_536);
    const filled = (async () => {
      for (let count = 0; count < 1_000; count++) await run.session.send({ type: "data", data: flood });
    })();
    run.session.cancel();
    await filled;
    await scene.commands.next((type) => type === "end-session");
    await eventually("it is recorded", () => scene.records.find(({ type }) => type === "session-ended"));
    expect(scene.records.at(-1)).toEqual({ type: "session-ended", session: 1, how: "its caller has gone" });
  });

  it("keep a caller waiting that says more than is taken", async () => {
    const scene = await open();
    const run = scene.run(sleeping);
    await run.started();
    let sent = 0;
    const flood = (async () => {
      for (; sent < 1_000; sent++) await run.session.send({ type: "data", data: Buffer.alloc(65_536) });
    })();
    // Whatever else is to be said gets through all the same.
    expect(await scene.command("echo", "another").end()).toMatchObject({ type: "exited", exitCode: 0 });
    expect(sent).toBeLessThan(500);
    run.session.cancel();
    await flood;
  });

  it("tell of the first of several connections to a port alone", async () => {
    const scene = await open();
    for (let count = 0; count < 2; count++) {
      expect(await scene.run({ type: "connection", port: 1 }).end()).toMatchObject({ type: "failed" });
    }
    expect(scene.records).toEqual([{ type: "session-opened", session: 1, by: "alice", kind: "connection", port: 1 }]);
  });

  it("take an executor's word only for a session that it was asked for", async () => {
    const scene = await open();
    const stranger = scene.stream.serveSession();
    await stranger.send({ type: "accept", sessionId: 99 });
    expect(await stranger.over).toMatchObject({ message: expect.stringContaining("session 99 is not wanted") });
  });

  it("are not another container's to accept", async () => {
    const scene = await open({ deaf: true });
    const run = scene.run(sleeping);
    await scene.commands.next((type) => type === "serve-session");
    expect(scene.sessions.accepted("container_1795305600000_0001_01_000099", 1)).toBeUndefined();
    expect(scene.records).toEqual([]);
    const serving = scene.stream.serveSession();
    await serving.send({ type: "accept", sessionId: 1 });
    await serving.send({ type: "started", terminal: false });
    expect(await run.started()).toMatchObject({ type: "started" });
  });

  it("begin with what is wanted", async () => {
    const scene = await open();
    const session = scene.stream.openSession();
    await session.send({ type: "end" });
    expect(await session.over).toMatchObject({ message: expect.stringContaining("begins with what is wanted") });
  });

  it("are refused, and not kept, where the caller ends what he says before he has said anything", async () => {
    const scene = await open();
    for (const session of [scene.stream.openSession(), scene.stream.serveSession()]) {
      session.finish();
      expect(await session.over).toMatchObject({ code: "API_FAILED" });
    }
  });
});
