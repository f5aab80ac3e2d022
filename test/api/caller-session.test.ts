import { afterEach, describe, expect, test } from "@jest/globals";
import type { CallerSession, SessionEnd, SessionHandler } from "../../src/api/caller-session.ts";
import { clientAccess } from "../../src/api/identity.ts";
import { MasterClient } from "../../src/api/master-client.ts";
import type { SessionOutput } from "../../src/api/session-messages.ts";
import { executor, identity, openStream, startMaster } from "../support/api.ts";
import { deferred } from "../support/deferred.ts";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const exited = { type: "exited", exitCode: 3, signal: "" } as const;
const lost = { type: "failed", reason: "the executor of worker:0 was lost" } as const;

/** A caller's session with worker:0 that its executor serves, and that has started. */
async function started() {
  let opened: (session: CallerSession) => void = () => undefined;
  let held: CallerSession | undefined;
  const session = new Promise<CallerSession>((resolve) => {
    opened = resolve;
  });
  const sessions: SessionHandler = {
    open: (one) => {
      held = one;
      opened(one);
    },
    accepted: () => held,
    taskIn: () => "worker:0",
    tenantOf: () => "worker:0",
  };
  const { address, server } = await startMaster({ sessions });
  const { stream } = openStream({ identity: executor, address });
  const client = new MasterClient({ address, access: clientAccess(identity), build: "test" });
  closing.push(
    () => server.close(0),
    () => stream.close(),
    () => client.close(),
  );
  const caller = client.openSession("worker:0", { type: "connection", port: 1 });
  const over = new Promise<SessionEnd>((resolve) => void session.then((one) => one.onceOver(resolve)));
  const heard: SessionOutput[] = [];
  const { promise: hasBegun, resolve: begun } = deferred();
  const all = caller.receive(async (message) => {
    heard.push(message);
    begun();
  });
  await session;
  const serving = stream.serveSession();
  await serving.send({ type: "accept", sessionId: 1 });
  await serving.send({ type: "started", terminal: false });
  await hasBegun;
  heard.length = 0;
  return { caller, serving, over, heard, all };
}

describe("a session of a caller with a task", () => {
  test.each<[string, SessionOutput | undefined, readonly SessionOutput[], SessionEnd]>([
    ["its command has", exited, [exited], { exit: exited }],
    [
      "its executor says why",
      { type: "failed", reason: "no room" },
      [{ type: "failed", reason: "no room" }],
      { reason: "no room" },
    ],
    ["its connection was closed in order", { type: "end" }, [{ type: "end" }], {}],
    // What is cut off may look like an end.
    ["its executor goes without a word", undefined, [lost], { reason: lost.reason }],
  ])("ends when %s", async (_, last, told, end) => {
    const { serving, over, heard, all } = await started();
    serving.finish(last);
    expect(await over).toEqual(end);
    await all;
    expect(heard).toEqual(told);
  });

  test("ends when its executor is lost", async () => {
    const { serving, over, heard, all } = await started();
    serving.cancel();
    expect(await over).toEqual({ reason: lost.reason });
    await all;
    expect(heard).toEqual([lost]);
  });

  test("ends when its caller goes", async () => {
    const { caller, over } = await started();
    caller.cancel();
    expect(await over).toEqual({ reason: "its caller has gone" });
  });
});
