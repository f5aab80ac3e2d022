import { expect, test } from "@jest/globals";
import { allRights, forbidden, rightsOfTask } from "../../../../am/core/store/rights.ts";
import { transactions, withPrefix } from "../../../../src/job/store/transaction.ts";

const task = rightsOfTask("worker:1");

test.each([
  ["its own key", transactions.put("task/worker:1/ready", "")],
  ["a shared key", transactions.setDefault("shared/leader", "")],
  ["all of its own", transactions.of({ type: "list", range: withPrefix("task/worker:1/") })],
  ["what says who has come to a barrier", transactions.put("barrier/1/epoch/worker/met", "1")],
  ["a part of what is shared", transactions.of({ type: "delete", range: { from: "shared/a", to: "shared/b" } })],
])("a task may use %s", (_what, transaction) => {
  expect(forbidden(transaction, task)).toBeUndefined();
});

test.each([
  ["another's key", transactions.get("task/worker:2/ready")],
  ["the key of one whose name begins alike", transactions.get("task/worker:10/ready")],
  ["a key of nobody", transactions.put("other", "")],
  ["all keys", transactions.of({ type: "list", range: { from: "" } })],
  ["what follows its own", transactions.of({ type: "list", range: { from: "task/worker:1/" } })],
  ["more than its own", transactions.of({ type: "delete", range: withPrefix("task/") })],
  ["what comes before its own", transactions.of({ type: "list", range: { from: "a", to: "task/worker:1/b" } })],
  [
    "another's keys behind its own",
    transactions.of({ type: "list", range: { from: "task/worker:1/", to: "task/worker:2/" } }),
  ],
  [
    "another's key as a condition",
    { ...transactions.get("shared/a"), conditions: [{ of: "exists", key: "b" } as const] },
  ],
  [
    "another's key where its conditions fail",
    { ...transactions.get("shared/a"), failure: transactions.get("b").success },
  ],
])("a task may not use %s", (_what, transaction) => {
  expect(forbidden(transaction, task)).toEqual({
    code: "forbidden",
    message: expect.stringMatching(/ is not yours: use task\/worker:1\/… or shared\/…$/),
  });
});

test("a refusal names the key, or the beginning of the range, that is not the task's", () => {
  const message = (named: string) => `${named} is not yours: use task/worker:1/… or shared/…`;
  expect(forbidden(transactions.put("other", ""), task)).toEqual({ code: "forbidden", message: message("other") });
  const range = { from: "task/", to: "task0" };
  expect(forbidden(transactions.of({ type: "list", range }), task)).toEqual({
    code: "forbidden",
    message: message("task/"),
  });
});

test("the job's owner may use everything", () => {
  expect(forbidden(transactions.of({ type: "delete", range: { from: "" } }), allRights)).toBeUndefined();
});
