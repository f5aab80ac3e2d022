import { describe, expect, jest, test } from "@jest/globals";
import { watchKeys, watchLines } from "../../../client/master/watched-keys.ts";
import type { KvWatchJson } from "../../../client/printed-json.ts";
import { ApiError } from "../../../src/api/errors.ts";
import { UserError } from "../../../src/errors.ts";
import type { Watched, WatchWanted } from "../../../src/job/store/watched.ts";

const entry = { key: "shared/a", value: "1", created: 3, modified: 3, version: 1 };
const changed: Watched = {
  type: "changes",
  attempt: 1,
  revision: 4,
  changes: [
    { type: "put", revision: 3, key: "shared/a", entry },
    { type: "delete", revision: 4, key: "shared/a" },
  ],
};

/** The job's AMs, one after the other; then it has ended. */
function job(masters: readonly (readonly (Watched | Error)[])[]) {
  const left = [...masters];
  const asked: WatchWanted[] = [];
  const open = { links: 0 };
  const connect = async () => {
    const told = left.shift();
    if (told === undefined) throw new UserError("it has ended", { code: "HAS_ENDED", exitCode: 1 });
    open.links += 1;
    return {
      close: () => {
        open.links -= 1;
      },
      async *watch(wanted: WatchWanted) {
        asked.push(wanted);
        for (const news of told) {
          if (news instanceof Error) throw news;
          yield news;
        }
      },
    };
  };
  return { connect, asked, open };
}

async function watched(...masters: readonly (readonly (Watched | Error)[])[]) {
  const { connect, asked, open } = job(masters);
  const printed: KvWatchJson[] = [];
  await watchKeys({ prefix: "shared/", connect, print: (news) => printed.push(news) });
  return { printed, asked, open };
}

describe("tony-ts kv ID watch", () => {
  test("prints each revision, over every AM, until the job has ended", async () => {
    const lost = new ApiError("lost", { code: "API_UNREACHABLE" });
    const { printed, asked, open } = await watched(
      [changed, lost],
      [
        { ...changed, attempt: 2, revision: 5, changes: [] },
        new ApiError("the job has ended", { code: "API_CANCELLED" }),
      ],
    );
    expect(open.links).toBe(0);
    const range = { from: "shared/", to: "shared0" };
    expect(asked).toEqual([{ range }, { range, after: { attempt: 1, revision: 4 } }]);
    expect(printed).toEqual([
      { attempt: 1, revision: 3, changes: [{ key: "shared/a", entry }] },
      { attempt: 1, revision: 4, changes: [{ key: "shared/a" }] },
      { attempt: 2, revision: 5, changes: [] },
    ]);
    expect(printed.flatMap(watchLines)).toEqual(["3  shared/a  1", "4  shared/a  gone"]);
  });

  test("prints all changes of a revision together", async () => {
    const twice: Watched = {
      ...{ type: "changes", attempt: 1, revision: 3 },
      changes: [
        { type: "put", revision: 3, key: "shared/a", entry },
        { type: "delete", revision: 3, key: "shared/b" },
      ],
    };
    const { printed } = await watched([twice, new ApiError("late", { code: "API_TIMEOUT" })]);
    expect(printed).toEqual([{ attempt: 1, revision: 3, changes: [{ key: "shared/a", entry }, { key: "shared/b" }] }]);
  });

  test.each([
    ["reset", "The ApplicationMaster was lost with changes that had been told"],
    ["compacted", "The oldest changes behind that revision are forgotten"],
  ] as const)("says what to do where it is %s", async (type, why) => {
    await expect(watched([{ type, attempt: 2, revision: 1 }])).rejects.toMatchObject({
      code: `STORE_${type.toUpperCase()}`,
      exitCode: 3,
      message: expect.stringContaining(`${why}\n  List the keys again`),
    });
  });

  test("asks again a second later where the job's next AM does not run yet, and gives up where that cannot be known", async () => {
    const { connect, asked } = job([[changed]]);
    const failing = [undefined, "NOT_RUNNING", "NOT_RUNNING", "NO_ANSWER"];
    const trying = async () => {
      const code = failing.shift();
      if (code !== undefined) throw new UserError(code, { code, exitCode: 1 });
      return await connect();
    };
    jest.useFakeTimers({ doNotFake: ["nextTick", "queueMicrotask"] });
    const watching = watchKeys({ prefix: "", after: { attempt: 1, revision: 2 }, connect: trying, print: () => {} });
    const failed = expect(watching).rejects.toMatchObject({ code: "NO_ANSWER" });
    await jest.advanceTimersByTimeAsync(2_999);
    expect(failing).toEqual(["NO_ANSWER"]);
    await jest.advanceTimersByTimeAsync(1);
    await failed;
    jest.useRealTimers();
    expect(asked).toEqual([{ range: { from: "" }, after: { attempt: 1, revision: 2 } }]);
  });

  test("goes on behind what it was told to where an AM is lost before it has told anything", async () => {
    const { connect, asked } = job([[new ApiError("lost", { code: "API_UNREACHABLE" })], [changed]]);
    const after = { attempt: 1, revision: 2 };
    jest.useFakeTimers({ doNotFake: ["nextTick", "queueMicrotask"] });
    const watching = watchKeys({ prefix: "", after, connect, print: () => {} });
    await jest.advanceTimersByTimeAsync(2_000);
    await watching;
    jest.useRealTimers();
    expect(asked).toEqual([
      { range: { from: "" }, after },
      { range: { from: "" }, after },
    ]);
  });

  test("ends with what is wrong where that is not the loss of an AM", async () => {
    const { connect, open } = job([[new ApiError("not yours", { code: "API_FORBIDDEN" })]]);
    await expect(watchKeys({ prefix: "", connect, print: () => {} })).rejects.toMatchObject({ code: "API_FORBIDDEN" });
    expect(open.links).toBe(0);
  });

  test("fails as the first connection does", async () => {
    await expect(watched()).rejects.toMatchObject({ code: "HAS_ENDED" });
  });
});
