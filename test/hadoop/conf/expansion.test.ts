import { describe, expect, test } from "@jest/globals";
import { expand as expandSaying, expandVariables } from "../../../src/hadoop/conf/expansion.ts";

const environment = { SET: "s", EMPTY: "" };

function expand(text: string, values: Record<string, string> = {}): string | undefined {
  return expandVariables(text, { environment, lookUp: (name) => values[name] });
}

describe("${…} as Hadoop expands it", () => {
  test.each([
    ["${a}/${b}", { a: "1", b: "2" }, "1/2"],
    ["${a${b}}", { b: "x", ax: "inner first" }, "inner first"],
    ["${a}", { a: "${b}", b: "deep" }, "deep"],
    ["no $ {a} reference $a ${} ${a b}", { a: "1" }, "no $ {a} reference $a ${} ${a b}"],
    ["${env.SET}", {}, "s"],
    ["${env.SET:-d}", {}, "s"],
    ["${env.EMPTY:-d}", {}, "d"],
    ["${env.EMPTY-d}", {}, ""],
    ["${env.NONE:-d}", {}, "d"],
    ["${env.NONE-a-b}", {}, "a-b"],
    ["${env.NONE:-}", {}, ""],
    ["${env.}", { "env.": "a key of that name" }, "a key of that name"],
    ["${environ}", { environ: "a key, too" }, "a key, too"],
    ["${env.NONE}", { "env.NONE": "a key of that name" }, "a key of that name"],
  ])("%s", (text, values, expected) => {
    expect(expand(text, values)).toBe(expected);
  });

  test("what has no value stays as written and ends the expansion", () => {
    expect(expand("${a}/${none}/${a}", { a: "1" })).toBe("1/${none}/${a}");
  });

  test("a value that names itself gives the whole expression back untouched", () => {
    expect(expand("${b}-${a}", { a: "x${a}", b: "1" })).toBe("${b}-${a}");
  });

  test("20 substitutions are too many, 19 are not", () => {
    expect(expand("${a}".repeat(19), { a: "x" })).toBe("x".repeat(19));
    expect(expand("${a}".repeat(20), { a: "x" })).toBeUndefined();
  });

  test("a loop over two keys ends", () => {
    expect(expand("${a}", { a: "${b}", b: "${a}" })).toBeUndefined();
  });
});

test.each([
  ["${a}/${none}", { a: "1" }, { text: "1/${none}", stopped: { reference: "${none}", why: "unset" } }],
  ["1${a}", { a: "x${a}" }, { text: "1${a}", stopped: { reference: "${a}", why: "circular" } }],
  ["1${a}", { a: "${b}", b: "${a}" }, { text: "1${a}", stopped: { reference: "1${a}", why: "endless" } }],
  ["1${a}", { a: "2" }, { text: "12" }],
])("%s says where it stopped, and why", (text, values: Record<string, string>, expected) => {
  expect(expandSaying(text, { environment, lookUp: (name) => values[name] })).toEqual(expected);
});
