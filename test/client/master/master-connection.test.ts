import { describe, expect, test } from "@jest/globals";
import { connectMaster, MasterConnection } from "../../../client/master/master-connection.ts";
import { clientAccess } from "../../../src/api/identity.ts";
import { jobOutcome, jobStatus } from "../../../src/api/status-codec.ts";
import { transactions } from "../../../src/job/store/transaction.ts";
import { identity, ownersDoor } from "../../support/api.ts";
import { SessionScene } from "../../support/session-scene.ts";
import { aJobStatus, allSucceeded } from "../job-status.ts";

type Asking = ConstructorParameters<typeof MasterConnection>[0];

const never = (): never => {
  throw new RangeError("it is not asked");
};

/** A connection whose AM answers so, and what it was asked. */
function connection(answers: Partial<Asking>) {
  let closed = 0;
  const close = () => {
    closed += 1;
  };
  const silent = { askPage: never, follow: never, openSession: never, readLog: never, stop: never };
  const others = { transact: never, watch: never, close };
  return { link: new MasterConnection({ ...silent, ...others, ...answers }), closed: () => closed };
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}
const { signal } = new AbortController();

describe("a connection to a job's AM", () => {
  test("tells how the job is and how it ended", async () => {
    const status = aJobStatus();
    const outcome = { ...allSucceeded, endedAtMs: 1 };
    const asked: unknown[] = [];
    const { link } = connection({
      async *follow(of) {
        asked.push(of);
        yield { attempt: 1, body: { type: "status", status: jobStatus.encode(status) } };
        yield { attempt: 1, body: { type: "outcome", outcome: jobOutcome.encode(outcome) } };
      },
    });
    expect(await all(link.follow(signal))).toEqual([
      { type: "status", status },
      { type: "outcome", outcome },
    ]);
    expect(asked).toEqual([signal]);
  });

  test("says that an AM is of another version whose status it does not understand", async () => {
    const { link } = connection({
      async *follow() {
        yield { attempt: 1, body: { type: "status", status: Buffer.from([0xff]) } };
      },
    });
    await expect(all(link.follow(signal))).rejects.toMatchObject({
      code: "STATUS_UNREADABLE",
      message: expect.stringContaining("another version"),
      cause: expect.any(Error),
    });
  });

  test("waits five seconds for a stop to be taken, twenty for its page, and a minute for a write", async () => {
    const asked: unknown[] = [];
    const answer = { code: "no-owner", message: "none" } as const;
    const transaction = transactions.get("a");
    const { link } = connection({
      stop: async (...of) => asked.push(["stop", ...of]) > 0,
      askPage: async (...of) => {
        asked.push(["page", ...of]);
        return "{}";
      },
      transact: async (...of) => {
        asked.push(["transact", ...of]);
        return answer;
      },
    });
    await link.stop("enough");
    expect(await link.askPage("live")).toBe("{}");
    expect(await link.transact(transaction, "worker:0")).toBe(answer);
    expect(asked).toEqual([
      ["stop", "enough", 5_000],
      ["page", "live", 20_000],
      ["transact", transaction, "worker:0", 60_000],
    ]);
  });

  test("reads logs and opens sessions as it is asked to", async () => {
    const asked: unknown[] = [];
    const piece = { offset: 0, data: Buffer.from("x"), generation: 1, skippedBytes: 0 };
    const chunk = { ...piece, tailId: 1, stream: "stderr", end: false } as const;
    const refused = new RangeError("no session here");
    const { link } = connection({
      async *readLog(...of) {
        asked.push(of);
        yield chunk;
      },
      openSession: (...of) => {
        asked.push(of);
        throw refused;
      },
    });
    const request = { task: "worker:0", stream: "stderr", offset: 7, follow: true } as const;
    expect(await all(link.readLog(request, signal))).toEqual([chunk]);
    expect(() => link.openSession("worker:0", { type: "stacks" })).toThrow(refused);
    expect(asked).toEqual([
      [request, signal],
      ["worker:0", { type: "stacks" }],
    ]);
  });

  test("watches keys from where it is told on", async () => {
    const asked: unknown[] = [];
    const watched = { type: "reset", attempt: 1, revision: 2 } as const;
    const { link } = connection({
      async *watch(request) {
        asked.push(request);
        yield { watched };
      },
    });
    const range = { from: "a", to: "b" };
    const after = { attempt: 1, revision: 7 };
    expect([await all(link.watch({ range })), await all(link.watch({ range, after }))]).toEqual([[watched], [watched]]);
    expect(asked).toEqual([range, { ...range, after }]);
  });

  test("goes to where the AM listens, as the job's owner, and finds out who may open sessions", async () => {
    let refusal: string | undefined;
    const scene = await SessionScene.open({ door: { ...ownersDoor, refusal: async () => refusal } });
    const contact = { attempt: 1, host: "127.0.0.1", port: scene.port };
    const link = connectMaster({ ...contact, access: clientAccess(identity) });
    await link.checkSessions();
    refusal = "carol may not";
    await expect(link.checkSessions()).rejects.toMatchObject({ code: "API_FORBIDDEN" });
    link.close();
    await scene.close();
  });

  test("is closed once and for all", () => {
    const { link, closed } = connection({});
    expect(link.isClosed).toBe(false);
    link.close();
    expect([link.isClosed, closed()]).toEqual([true, 1]);
  });
});
