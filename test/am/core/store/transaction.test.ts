import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { emptyStore } from "../../../../am/core/store/empty-store.ts";
import { keyBytes, storeLimits } from "../../../../am/core/store/limits.ts";
import { endLife, transact } from "../../../../am/core/store/transaction.ts";
import {
  type Committed,
  type Condition,
  isIn,
  type Operation,
  type Refusal,
  type Transaction,
  transactions,
  withPrefix,
} from "../../../../src/job/store/transaction.ts";

const life = { task: "worker:0", generation: 3 };
const key = fc.constantFrom("a", "a/1", "a/2", "b", "b/1", "é", "𝄞", "\uffff", "\uffff\uffff", "__proto__");
const value = fc.constantFrom("", "x", "y", "\u00ff", "zz");
const range = fc.oneof(
  key.map(withPrefix),
  fc.record({ from: key, to: key }),
  key.map((from) => ({ from })),
);
const comparison = fc.constantFrom("=", "≠", "<", "≤", ">", "≥");
const condition: fc.Arbitrary<Condition> = fc.oneof(
  fc.record({ of: fc.constant("exists" as const), key }),
  fc.record({ of: fc.constant("missing" as const), key }),
  fc.record({ of: fc.constant("value" as const), key, is: comparison, to: value }),
  fc.record({
    of: fc.constantFrom("created" as const, "modified" as const, "version" as const),
    key,
    is: comparison,
    to: fc.nat(4),
  }),
  fc.record({ of: fc.constant("owner" as const), key, is: fc.constantFrom("=", "≠"), to: fc.constant("worker:0") }),
);
const operation: fc.Arbitrary<Operation> = fc.oneof(
  key.map((one): Operation => ({ type: "get", key: one })),
  fc.record({ type: fc.constant("list" as const), range, limit: fc.integer({ min: 1, max: 4 }) }),
  fc.record({ type: fc.constant("put" as const), key, value, owned: fc.boolean() }),
  range.map((one): Operation => ({ type: "delete", range: one })),
);
const transaction: fc.Arbitrary<Transaction> = fc.record({
  conditions: fc.array(condition, { maxLength: 2 }),
  success: fc.uniqueArray(operation, { maxLength: 4, selector: (one) => ("key" in one ? one.key : one) }),
  failure: fc.uniqueArray(operation, { maxLength: 2, selector: (one) => ("key" in one ? one.key : one) }),
});

interface Held {
  value: string;
  created: number;
  modified: number;
  version: number;
  owned: boolean;
}

/** The store as anybody would write it first: a map that is sorted for each answer. */
class Model {
  readonly held = new Map<string, Held>();
  revision = 0;

  transact({ conditions, success, failure }: Transaction) {
    const succeeded = conditions.every((one) => this.#holds(one));
    let wrote = false;
    const results = (succeeded ? success : failure).map((one) => {
      if (one.type === "get") return this.held.get(one.key)?.value;
      if (one.type === "put") {
        const before = this.held.get(one.key);
        const modified = this.revision + 1;
        const { created = modified, version = 0 } = before ?? {};
        this.held.set(one.key, {
          value: one.value,
          created,
          modified,
          version: version + 1,
          owned: one.owned === true,
        });
        wrote = true;
        return before?.value;
      }
      const keys = [...this.held.keys()].filter((name) => isIn(name, one.range)).sort(byCodeUnits);
      if (one.type === "list") return keys.slice(0, one.limit).map((name) => [name, this.held.get(name)?.value]);
      for (const name of keys) this.held.delete(name);
      wrote ||= keys.length > 0;
      return keys.length;
    });
    if (wrote) this.revision += 1;
    return { succeeded, revision: this.revision, results };
  }

  #holds(one: Condition): boolean {
    const held = this.held.get(one.key);
    if (one.of === "exists" || one.of === "missing") return (held !== undefined) === (one.of === "exists");
    if (one.of === "owner") return (held?.owned === true) === (one.is === "=");
    if (one.of === "value") return held === undefined ? one.is === "≠" : compare(held.value, one.is, one.to);
    return compare(held?.[one.of] ?? 0, one.is, one.to);
  }
}

function compare(left: string | number, is: string, right: string | number): boolean {
  const signs: Record<string, boolean> = { "<": left < right, "=": left === right, ">": left > right };
  const both: Record<string, string> = { "≤": "<=", "≥": ">=", "≠": "<>" };
  return [...(both[is] ?? is)].some((sign) => signs[sign]);
}

const byCodeUnits = (left: string, right: string) => (left < right ? -1 : 1);

describe("a transaction", () => {
  test("has the same effect as on a map, whatever is asked", () => {
    fc.assert(
      fc.property(fc.array(transaction, { maxLength: 30 }), (all) => {
        const model = new Model();
        const state = emptyStore(1);
        for (const one of all) {
          const { results, ...rest } = committed(transact(state, one, life));
          const plain = results.map((result) => {
            if (result.type === "get") return result.entry?.value;
            if (result.type === "put") return result.before?.value;
            if (result.type === "delete") return result.deleted;
            return result.entries.map((entry) => [entry.key, entry.value]);
          });
          expect({ ...rest, results: plain }).toEqual(model.transact(one));
        }
        expect(state.entries.map(({ key: name }) => name)).toEqual([...model.held.keys()].sort(byCodeUnits));
        const owned = [...model.held.values()].filter(({ owned: is }) => is).length;
        expect(state.owned).toEqual(owned === 0 ? {} : { "worker:0#3": owned });
        endLife(state, life);
        expect(state.entries.every(({ owner }) => owner === undefined)).toBe(true);
        expect(state.owned).toEqual({});
        committed(transact(state, transactions.of({ type: "delete", range: { from: "" } })));
        expect(state).toMatchObject({ entries: [], bytes: 0 });
      }),
    );
  });

  test("that changes nothing has no revision of its own", () => {
    const state = emptyStore(1);
    committed(transact(state, transactions.put("a", "1")));
    committed(transact(state, transactions.get("a")));
    expect(committed(transact(state, transactions.remove("b"))).revision).toBe(1);
  });

  test("counts the writes of a key since its creation", () => {
    const state = emptyStore(1);
    const write = (value: string) => committed(transact(state, transactions.put("a", value)));
    write("1");
    expect(write("2").results).toEqual([
      { type: "put", before: { key: "a", value: "1", created: 1, modified: 1, version: 1 } },
    ]);
    expect(state.entries).toEqual([{ key: "a", value: "2", created: 1, modified: 2, version: 2 }]);
    committed(transact(state, transactions.remove("a")));
    write("3");
    expect(state.entries).toEqual([{ key: "a", value: "3", created: 4, modified: 4, version: 1 }]);
  });

  test("is counted in UTF-8, with what each key and change takes besides", () => {
    const state = emptyStore(1);
    committed(transact(state, transactions.put("é", "xyz")));
    expect(state).toMatchObject({ bytes: 105, changesBytes: 105 });
    committed(transact(state, transactions.put("é", "x")));
    expect(state).toMatchObject({ bytes: 103, changesBytes: 208 });
    committed(transact(state, transactions.remove("é")));
    expect(state).toMatchObject({ bytes: 0, changesBytes: 310 });
  });

  test("of one life leaves the keys of the same task's other lives to them", () => {
    const state = emptyStore(1);
    committed(transact(state, transactions.put("a", "", true), life));
    committed(transact(state, transactions.put("a", "", true), { ...life, generation: 4 }));
    endLife(state, life);
    expect(state).toMatchObject({ entries: [{ key: "a", owner: { generation: 4 } }], owned: { "worker:0#4": 1 } });
  });

  test("writes a default once, and returns what is there", () => {
    const state = emptyStore(1);
    expect(committed(transact(state, transactions.setDefault("a", "1"))).succeeded).toBe(true);
    const second = committed(transact(state, transactions.setDefault("a", "2")));
    expect(second).toMatchObject({ succeeded: false, results: [{ entry: { value: "1", version: 1 } }] });
  });

  test("says that a list is incomplete, and returns only keys where nothing else is asked for", () => {
    const state = emptyStore(1);
    for (const name of ["a/1", "a/2", "a/3"]) committed(transact(state, transactions.put(name, "value")));
    const list: Operation = { type: "list", range: withPrefix("a/"), limit: 2, keysOnly: true };
    const [result] = committed(transact(state, transactions.of(list))).results;
    expect(result).toMatchObject({ more: true, entries: [{ key: "a/1", value: "" }, { key: "a/2" }] });
  });

  test("is listed up to the size limit of an answer", () => {
    const state = emptyStore(1);
    for (let nth = 10; nth < 30; nth += 1)
      committed(transact(state, transactions.put(`k${nth}`, "x".repeat(128 << 10))));
    const [result] = committed(transact(state, transactions.of({ type: "list", range: { from: "" } }))).results;
    expect(result).toMatchObject({ more: true, entries: Array(15).fill({}) });
    const small: Operation = { type: "list", range: { from: "k29" } };
    const whole: Operation = { type: "list", range: { from: "" } };
    const lists = committed(transact(state, transactions.of(small, ...Array<Operation>(127).fill(whole)))).results;
    const told = lists.map((one) => (one.type === "list" ? [one.entries.length, one.more] : []));
    expect(told).toEqual([[1, false], [14, true], ...Array(126).fill([0, true])]);
  });
});

describe("a list of all keys", () => {
  const listed = (last: number) => {
    const state = emptyStore(1);
    for (let nth = 10; nth < 25; nth += 1) committed(transact(state, transactions.put(`k${nth}`, "x".repeat(131_072))));
    committed(transact(state, transactions.put("last", "x".repeat(last))));
    const [result] = committed(transact(state, transactions.of({ type: "list", range: { from: "" } }))).results;
    return result?.type === "list" ? [result.entries.length, result.more] : [];
  };

  test("has exactly 2 MiB at most, each key with the 100 bytes that it takes besides", () => {
    expect(listed(129_423)).toEqual([16, false]);
    expect(listed(129_424)).toEqual([15, true]);
  });
});

test.each([
  ["\u007f", 1],
  ["\u0080", 2],
  ["\u07ff", 2],
  ["\u0800", 3],
  ["\ud7ff", 3],
  ["𐀀", 4],
  ["\u{10ffff}", 4],
  ["\ue000", 3],
  ["aé𝄞€", 10],
])("the key %j has %d bytes", (key, bytes) => {
  expect(keyBytes(key)).toBe(bytes);
});

describe("a limit may be reached:", () => {
  const large = "x".repeat(98_304);
  test.each([
    ["a key of 512 bytes", transactions.put("é".repeat(256), "")],
    ["a value of 128 KiB", transactions.put("a", "x".repeat(131_072))],
    [
      "values of 192 KiB in one transaction, which reads as well",
      transactions.of(...transactions.put("a", large).success, ...transactions.put("b", large).success, {
        type: "get",
        key: "c",
      }),
    ],
    ["128 operations", transactions.of(...Array<Operation>(128).fill({ type: "get", key: "a" }))],
  ])("%s", (_what, one) => {
    expect(transact(emptyStore(1), one)).toMatchObject({ succeeded: true });
  });

  test("32 MiB in the store, where a value may still be replaced by one as large, or shorter", () => {
    const state = emptyStore(1);
    const put = (key: string, length: number) => transact(state, transactions.put(key, "x".repeat(length)));
    for (let nth = 100; nth < 355; nth += 1) committed(put(`k${nth}`, 131_072));
    committed(put("last", 104_448));
    expect(state.bytes).toBe(33_554_432);
    committed(put("last", 104_448));
    committed(put("k100", 131_072));
    expect(put("last", 104_449)).toEqual({
      code: "limit",
      message: "the store holds 33554432 bytes at most: delete some keys first",
    });
    expect(put("b", 0)).toMatchObject({ code: "limit" });
    committed(put("last", 104_343));
    committed(put("b", 4));
    expect(state.bytes).toBe(33_554_432);
  });
});

describe("nothing happens, and the refusal says why,", () => {
  const refused = (one: Transaction, given?: typeof life) => {
    const state = emptyStore(1);
    const answer = transact(state, one, given);
    expect(state.revision).toBe(0);
    return answer;
  };
  const put = (name: string, held = "") => transactions.put(name, held);

  test.each([
    ["of an empty key", put(""), "invalid", /empty/],
    ["of half a character", put("\ud800"), "invalid", /no Unicode text/],
    ["of a key too long", put("é".repeat(257)), "limit", /514 bytes, at most 512 are allowed: é{40}…$/],
    [
      "of an empty key in a condition",
      {
        ...put("a"),
        conditions: [
          { of: "exists", key: "a" },
          { of: "exists", key: "" },
        ],
      },
      "invalid",
      /empty/,
    ],
    [
      "of what it would write where its conditions fail",
      { ...put("a"), conditions: [{ of: "exists", key: "a" }], failure: put("").success },
      "invalid",
      /empty/,
    ],
    ["of an empty key that it reads", transactions.get(""), "invalid", /empty/],
    [
      "of values too large together, whichever of them it would write",
      { ...put("a", "x".repeat(98_304)), failure: put("b", "x".repeat(98_305)).success },
      "limit",
      /at most 196608 bytes, not 196609/,
    ],
    [
      "of too many conditions",
      { ...put("a"), conditions: Array(129).fill({ of: "exists", key: "a" }) },
      "limit",
      /128.*129/,
    ],
    ["of a value too large", put("a", "x".repeat((128 << 10) + 1)), "limit", /131073 bytes, at most 131072.*path/],
    ["of a key written twice", transactions.of(...put("a").success, ...put("a").success), "invalid", /a twice/],
    ["of too much at once", { ...put("a"), failure: Array(129).fill({ type: "get", key: "a" }) }, "limit", /128.*129/],
    [
      "of values too large together",
      transactions.of(...["a", "b"].flatMap((name) => put(name, "x".repeat(100_000)).success)),
      "limit",
      /at most 196608 bytes, not 200000/,
    ],
    ["of an owner that is unknown", transactions.put("a", "", true), "no-owner", /a is to go with a task's life/],
  ] as const)("%s", (_what, one, code, message) => {
    expect(refused(one)).toEqual({ code, message: expect.stringMatching(message) });
  });

  test("where the store would hold too many bytes, until some are deleted", () => {
    const state = emptyStore(1);
    const large = "x".repeat(128 << 10);
    for (let nth = 0; nth < 255; nth += 1) committed(transact(state, put(`k${nth}`, large)));
    const { revision } = state;
    expect(transact(state, put("k255", large))).toMatchObject({
      code: "limit",
      message: expect.stringMatching(/delete some keys/),
    });
    expect(state.revision).toBe(revision);
    committed(transact(state, transactions.remove("k0")));
    committed(transact(state, put("k255", large)));
  });

  test("where the store would hold too many bytes, though the last value of a transaction is shorter than before", () => {
    const state = emptyStore(1);
    const large = "x".repeat(128 << 10);
    for (let nth = 0; nth < 255; nth += 1) committed(transact(state, put(`k${nth}`, large)));
    committed(transact(state, put("last", "longer")));
    const { revision, bytes } = state;
    const both = [...put("k255", large).success, ...put("last", "short").success];
    expect(transact(state, transactions.of(...both))).toMatchObject({
      code: "limit",
      message: expect.stringMatching(/delete some keys/),
    });
    expect(state).toMatchObject({ revision, bytes });
  });

  test("where the store would hold too many keys", () => {
    const state = emptyStore(1);
    for (let nth = 0; nth < storeLimits.keys; nth += 1) committed(transact(state, put(`k${nth}`)));
    expect(transact(state, put("one more"))).toMatchObject({
      code: "limit",
      message: expect.stringMatching(/100000 keys at most/),
    });
    committed(transact(state, put("k0", "longer")));
  });
});

function committed(answer: Committed | Refusal): Committed {
  if ("code" in answer) throw new Error(answer.message);
  return answer;
}
