import { describe, expect, test } from "@jest/globals";
import {
  rangeIn,
  readTransaction,
  shownEntry,
  shownResult,
  storedValue,
} from "../../../src/job/store/transaction-json.ts";

const read = (transaction: object) => readTransaction(JSON.stringify(transaction));
const entry = { key: "a", value: "1", created: 3, modified: 8, version: 2 } as const;

describe("a transaction in JSON", () => {
  test("has conditions, and what is done when they hold or do not", () => {
    const success = [
      { type: "put", key: "a", value: "1" },
      { type: "put", key: "b", valueBase64: "/w==", owned: true },
      { type: "get", key: "a" },
    ];
    const failure = [
      { type: "list", prefix: "x/", keysOnly: true },
      { type: "list", prefix: "x/", from: "x/3", to: "x/7" },
      { type: "delete", key: "a" },
      { type: "delete", prefix: "x/" },
    ];
    expect(read({ conditions: [{ key: "a", of: "missing" }], success, failure })).toEqual({
      conditions: [{ key: "a", of: "missing" }],
      success: [
        { type: "put", key: "a", value: "1", owned: false },
        { type: "put", key: "b", value: "\u00ff", owned: true },
        { type: "get", key: "a" },
      ],
      failure: [
        { type: "list", range: { from: "x/", to: "x0" }, keysOnly: true },
        { type: "list", range: { from: "x/3", to: "x/7" }, keysOnly: false },
        { type: "delete", range: { from: "a", to: "a\u0000" } },
        { type: "delete", range: { from: "x/", to: "x0" } },
      ],
    });
    expect(read({})).toEqual({ conditions: [], success: [], failure: [] });
  });

  test.each([
    [
      { key: "a", of: "exists" },
      { key: "a", of: "exists" },
    ],
    [
      { key: "a", of: "value", is: "==", to: "é" },
      { key: "a", of: "value", is: "=", to: "Ã©" },
    ],
    [
      { key: "a", of: "value", is: "!=", toBase64: "/w==" },
      { key: "a", of: "value", is: "≠", to: "\u00ff" },
    ],
    [
      { key: "a", of: "created", is: "<", to: 7 },
      { key: "a", of: "created", is: "<", to: 7 },
    ],
    [
      { key: "a", of: "modified", is: "<=", to: 7 },
      { key: "a", of: "modified", is: "≤", to: 7 },
    ],
    [
      { key: "a", of: "version", is: ">=", to: 0 },
      { key: "a", of: "version", is: "≥", to: 0 },
    ],
    [
      { key: "a", of: "version", is: ">", to: 0 },
      { key: "a", of: "version", is: ">", to: 0 },
    ],
    [
      { key: "a", of: "owner", is: "!=", to: "worker:0" },
      { key: "a", of: "owner", is: "≠", to: "worker:0" },
    ],
  ])("may ask that %j", (asked, condition) => {
    expect(read({ conditions: [asked] }).conditions).toEqual([condition]);
  });

  test.each([
    ["{", "the body is no JSON"],
    ["[]", "the body is not an object"],
    ['{"success": {}}', "success is not a list"],
    ['{"success": [7]}', "an operation is not an object"],
    ['{"conditions": [null]}', "a condition is not an object"],
    ['{"success": [{"type": "move"}]}', "type is one of get, put, list, delete"],
    ['{"success": [{"type": "get"}]}', "key is not text"],
    ['{"success": [{"type": "put", "key": "a", "value": 7}]}', "value is not text"],
    ['{"success": [{"type": "put", "key": "a", "value": "", "owned": 1}]}', "owned is neither true nor false"],
    ['{"conditions": [{"key": "a", "of": "version", "is": "=", "to": -1}]}', "to is not a whole number"],
    ['{"conditions": [{"key": "a", "of": "version", "is": "=", "to": 1.5}]}', "to is not a whole number"],
    ['{"conditions": [{"key": "a", "of": "owner", "is": "<", "to": "w"}]}', "of an owner only = and != are asked"],
  ])("%s is refused", (body, message) => {
    expect(() => readTransaction(body)).toThrow(expect.objectContaining({ code: "USAGE", message }));
  });
});

describe("a value", () => {
  test("is text where it is, else base64", () => {
    const shown = (value: string) => {
      const {
        key: _key,
        created: _created,
        modified: _modified,
        version: _version,
        ...rest
      } = shownEntry({ ...entry, value });
      return rest;
    };
    expect(shown("plain")).toEqual({ value: "plain" });
    expect(shown("Ã©")).toEqual({ value: "é" });
    expect(shown("\u00ff")).toEqual({ valueBase64: "/w==" });
  });

  test("is stored by its bytes", () => {
    expect([storedValue({ value: "plain" }), storedValue({ value: "é" })]).toEqual(["plain", "Ã©"]);
    expect(storedValue({ valueBase64: "cGxhaW4=" })).toBe("plain");
  });
});

test("a result is shown by what was asked", () => {
  const owner = { task: "worker:0", generation: 3 };
  expect(shownEntry({ ...entry, owner })).toEqual({ ...entry, owner });
  expect(shownResult({ type: "get", entry })).toEqual({ entry });
  expect(shownResult({ type: "get" })).toEqual({});
  expect(shownResult({ type: "put", before: entry })).toEqual({ before: entry });
  expect(shownResult({ type: "put" })).toEqual({});
  expect(shownResult({ type: "list", entries: [entry], more: true })).toEqual({ entries: [entry], more: true });
  expect(shownResult({ type: "delete", deleted: 2 })).toEqual({ deleted: 2 });
});

test("a range is of the keys that begin so, within its bounds", () => {
  expect(rangeIn({ prefix: "" })).toEqual({ from: "" });
  expect(rangeIn({ prefix: "b/", from: "a", to: "z" })).toEqual({ from: "b/", to: "b0" });
  expect(rangeIn({ prefix: "b/", from: "b/2", to: "b/5" })).toEqual({ from: "b/2", to: "b/5" });
});
