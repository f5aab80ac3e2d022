import { describe, expect, test } from "@jest/globals";
import { askFeed } from "../../../executor/api/feed-calls.ts";
import { ApiError } from "../../../src/api/errors.ts";
import type { FeedReply } from "../../../src/api/messages.ts";

const asked = { feed: "train", generation: 4, call: { type: "moved" } } as const;
const never = new AbortController().signal;
const failing = (code: string) => () => Promise.reject(new ApiError("lost", { code }));

/** Each call has the next of these answers. */
function linked(...answers: (() => Promise<FeedReply> | undefined)[]) {
  const calls: unknown[] = [];
  const link = () => ({
    connected: async () => undefined,
    askFeed: (request: unknown) => {
      calls.push(request);
      return answers[calls.length - 1]?.();
    },
  });
  return { link, calls };
}

describe("what a program asks of a feed", () => {
  test("is asked again where it was lost or took long, until an ApplicationMaster answers", async () => {
    const noted = async () => ({ type: "noted" }) as const;
    const { link, calls } = linked(failing("API_UNREACHABLE"), () => undefined, failing("API_TIMEOUT"), noted);
    expect(await askFeed(link, asked, never)).toEqual({ type: "noted" });
    expect(calls).toEqual(Array(4).fill({ feed: "train", generation: 4, body: { type: "moved" } }));
  });

  test.each([
    [
      "a refusal",
      async () => ({ type: "refused", code: "lost", message: "it is another's" }) as const,
      409,
      "FEED_LOST",
      1,
    ],
    ["a feed that cannot be read for long", failing("API_FAILED"), 503, "FEED_AWAY", 481],
  ])("is told of %s", async (_what, answer, status, code, tries) => {
    const { link, calls } = linked(...Array(500).fill(answer));
    const pauses: number[] = [];
    await expect(askFeed(link, asked, never, async (ms) => pauses.push(ms))).rejects.toMatchObject({ status, code });
    expect([calls.length, pauses]).toEqual([tries, Array(tries - 1).fill(250)]);
  });

  test("is passed on where its ApplicationMaster does not take the caller for a task of the job", async () => {
    const { link, calls } = linked(failing("API_FORBIDDEN"));
    await expect(askFeed(link, asked, never)).rejects.toMatchObject({ code: "API_FORBIDDEN" });
    expect(calls).toHaveLength(1);
  });

  test("is given up by who goes while no ApplicationMaster is connected", async () => {
    const gone = new AbortController();
    const away = () => ({ connected: () => new Promise<undefined>(() => undefined), askFeed: () => undefined });
    const asking = askFeed(away, asked, gone.signal, async () => undefined);
    gone.abort();
    await expect(asking).rejects.toMatchObject({ status: 503, code: "FEED_AWAY" });
  });

  test("is not asked any more when nobody waits", async () => {
    const { link, calls } = linked();
    await expect(askFeed(link, asked, AbortSignal.abort())).rejects.toMatchObject({ code: "FEED_AWAY" });
    expect(calls).toEqual([]);
  });
});
