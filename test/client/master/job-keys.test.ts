import { describe, expect, test } from "@jest/globals";
import { allRights } from "../../../am/core/store/rights.ts";
import { createStore } from "../../../am/core/store/store.ts";
import { JobKeys } from "../../../client/master/job-keys.ts";
import type { StoreAnswer, Transaction } from "../../../src/job/store/transaction.ts";

/** The AM's own store, without an AM. */
function keysOfJob(): JobKeys {
  const store = createStore();
  return new JobKeys({
    async transact(transaction: Transaction, owner?: string): Promise<StoreAnswer> {
      const life = owner === "worker:0" ? { life: { task: owner, generation: 2 } } : {};
      const effects = store.step(
        { type: "request", id: 1, transaction, rights: allRights, durable: false, ...life },
        0,
      );
      const answer = effects.find((effect) => effect.type === "answer");
      if (answer?.type !== "answer") throw new Error("no answer");
      return answer.answer;
    },
  });
}

const owner = undefined;

describe("the keys of a job", () => {
  test("are put, read, listed and deleted", async () => {
    const keys = keysOfJob();
    expect(await keys.put({ key: "a/1", value: "é", owner })).toEqual({
      printed: { revision: 1, replaced: false },
      lines: [],
    });
    expect((await keys.put({ key: "a/1", value: "ü", owner })).printed.replaced).toBe(true);
    await keys.put({ key: "b", value: "2", owner: "worker:0" });
    const entry = { key: "a/1", value: "ü", created: 1, modified: 2, version: 2 };
    expect(await keys.get({ key: "a/1" })).toEqual({ printed: { revision: 3, entry }, lines: ["ü"] });
    expect((await keys.list({ key: "a/" })).printed).toEqual({ revision: 3, entries: [entry] });
    expect((await keys.list({ key: "" })).lines).toEqual([
      "key   revision   owner      value",
      "a/1   2          –          ü",
      "b     3          worker:0   2",
    ]);
    expect(await keys.del({ key: "a/1" })).toEqual({ printed: { revision: 4, deleted: 1 }, lines: ["1"] });
    expect((await keys.del({ key: "a/1" })).lines).toEqual(["0"]);
    expect((await keys.list({ key: "a/" })).lines).toEqual(["no keys"]);
  });

  test("are all listed, in as many answers as it takes", async () => {
    const keys = keysOfJob();
    for (let nth = 100; nth < 140; nth += 1) await keys.put({ key: `k${nth}`, value: "x".repeat(100_000), owner });
    await keys.put({ key: "later", value: "no k", owner });
    const { entries } = (await keys.list({ key: "k" })).printed;
    expect(entries.map(({ key }) => key)).toEqual(Array.from({ length: 40 }, (_, nth) => `k${nth + 100}`));
  });

  test("change together where conditions hold, and stay as they are where one does not", async () => {
    const keys = keysOfJob();
    const json = JSON.stringify({
      conditions: [{ of: "missing", key: "b" }],
      success: [
        { type: "put", key: "a", value: "1", owned: true },
        { type: "put", key: "b", valueBase64: "/w==" },
      ],
      failure: [{ type: "list", prefix: "" }],
    });
    const done = { revision: 1, succeeded: true, results: [{}, {}] };
    const told = await keys.transact({ key: json, owner: "worker:0" });
    expect(told).toEqual({ printed: done, lines: [JSON.stringify(done)] });
    const written = { created: 1, modified: 1, version: 1 };
    expect((await keys.transact({ key: json, owner: "worker:0" })).printed).toEqual({
      revision: 1,
      succeeded: false,
      results: [
        {
          entries: [
            { key: "a", value: "1", ...written, owner: { task: "worker:0", generation: 2 } },
            { key: "b", valueBase64: "/w==", ...written },
          ],
          more: false,
        },
      ],
    });
    expect((await keys.get({ key: "b" })).lines).toEqual(["/w=="]);
    await expect(keys.transact({ key: '{"success": 1}', owner })).rejects.toMatchObject({
      code: "USAGE",
      message: "success is not a list",
    });
  });

  test("that are not there, and writes that are refused, are errors that say so", async () => {
    const keys = keysOfJob();
    await expect(keys.get({ key: "a" })).rejects.toMatchObject({
      code: "NO_SUCH_KEY",
      exitCode: 2,
      message: "There is no key a",
    });
    await expect(keys.put({ key: "a", value: "x".repeat(200_000), owner })).rejects.toMatchObject({
      code: "STORE_REFUSED",
      exitCode: 2,
      message: expect.stringMatching(/^Nothing is changed: .*at most/),
    });
    await expect(keys.put({ key: "a", value: "", owner: "worker:9" })).rejects.toMatchObject({ code: "NO_OWNER" });
  });
});
