import { setImmediate } from "node:timers/promises";
import { expect, test } from "@jest/globals";
import { StoreWatches } from "../../../am/clients/store-watches.ts";
import { emptyStore } from "../../../am/core/store/empty-store.ts";
import { transact } from "../../../am/core/store/transaction.ts";
import { transactions, withPrefix } from "../../../src/job/store/transaction.ts";
import type { Watched } from "../../../src/job/store/watched.ts";

test("changes outside its range are told of to a watch once in ten thousand revisions, as how far the store is", async () => {
  const state = emptyStore(1);
  const watches = new StoreWatches();
  const told: Watched[] = [];
  watches.begin(state, { range: withPrefix("shared/") }, async (news) => void told.push(news));
  const put = async (key: string) => {
    transact(state, transactions.put(key, ""));
    watches.changed(state);
    await setImmediate();
  };
  await put("task/worker:0/step");
  await put("task/worker:0/step");
  state.revision += 9_996;
  await put("task/worker:0/step");
  await put("task/worker:0/step");
  await put("shared/rate");
  expect(told.map(({ revision, ...news }) => [revision, "changes" in news ? news.changes.length : news.type])).toEqual([
    [0, 0],
    [10_000, 0],
    [10_001, 1],
  ]);
});
