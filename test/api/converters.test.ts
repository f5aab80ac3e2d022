import { expect, test } from "@jest/globals";
import { storeAnswer, storeTransaction, storeWatched } from "../../src/api/generated/codecs.ts";
import { type StoreAnswer, type Transaction, transactions } from "../../src/job/store/transaction.ts";
import { tonyProto } from "../support/tony-proto.ts";

const value = "\u0000\u00ff";
const entry = { key: "é𝄞", value, created: 1, modified: 2 ** 40, version: 4 };
const transaction: Transaction = {
  conditions: [
    { of: "value", key: "a", is: "≥", to: value },
    { of: "owner", key: "a", is: "≠", to: "worker:0" },
    { of: "version", key: "a", is: "<", to: 3 },
  ],
  success: [{ type: "list", range: { from: "a", to: "b" }, limit: 3, keysOnly: true }],
  failure: [{ type: "put", key: "a", value, owned: true }],
};
const answer: StoreAnswer = {
  revision: 7,
  succeeded: true,
  results: [
    { type: "list", entries: [{ ...entry, owner: { task: "worker:0", generation: 3 } }], more: true },
    { type: "delete", deleted: 5 },
  ],
};

test("the tables say what proto/tony/store.proto says", async () => {
  const root = await tonyProto();
  const declared = (name: string, bytes: Uint8Array) => {
    const type = root.lookupType(`tony.v1.${name}`);
    return type.encode(type.fromObject(type.toObject(type.decode(bytes), { longs: String }))).finish();
  };
  expect(storeTransaction.decode(declared("StoreTransaction", storeTransaction.encode(transaction)))).toEqual(
    transaction,
  );
  for (const one of [answer, { code: "limit", message: "too much" } as const]) {
    expect(storeAnswer.decode(declared("StoreAnswer", storeAnswer.encode(one)))).toEqual(one);
  }
  const entry = { key: "a", value: "1", created: 2, modified: 3, version: 2 };
  const changes = [
    { type: "put", revision: 3, key: "a", entry },
    { type: "delete", revision: 4, key: "b" },
  ] as const;
  for (const one of [
    { type: "changes", attempt: 2, revision: 4, changes },
    { type: "reset", attempt: 2, revision: 4 },
  ] as const)
    expect(storeWatched.decode(declared("StoreWatched", storeWatched.encode(one)))).toEqual(one);
});

test("what is neither condition, operation nor result is refused", () => {
  const bytes = Buffer.from(
    storeTransaction.encode({ ...transactions.get("a"), conditions: [{ of: "exists", key: "a" }] }),
  );
  for (const [word, other] of [
    ["exists", "exusts"],
    ["get", "got"],
  ] as const) {
    const changed = Buffer.from(bytes.toString("latin1").replace(word, other), "latin1");
    expect(() => storeTransaction.decode(changed)).toThrow(`${other} is not a`);
  }
});
