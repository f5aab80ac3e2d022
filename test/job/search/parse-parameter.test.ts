import { describe, expect, test } from "@jest/globals";
import { parameterWords, parseParameter } from "../../../src/job/search/parse-parameter.ts";

describe("a parameter of a search", () => {
  test.each([
    ["float 1e-5 1e-1 log", { domain: { kind: "float", low: 1e-5, high: 0.1, log: true } }],
    ["float 0 1 step 0.1", { domain: { kind: "float", low: 0, high: 1, log: false, step: 0.1 } }],
    ["int -1 8", { domain: { kind: "int", low: -1, high: 8, log: false, step: 1 } }],
    ["int 8 512 log", { domain: { kind: "int", low: 8, high: 512, log: true, step: 1 } }],
    ["int 0 100 step 25", { domain: { kind: "int", low: 0, high: 100, log: false, step: 25 } }],
    ["float 2 2", { domain: { kind: "float", low: 2, high: 2, log: false } }],
    ["choice adam sgd", { domain: { kind: "choice", choices: ["adam", "sgd"] } }],
    ["choice 16 32 6.4e1", { domain: { kind: "choice", choices: [16, 32, 64] } }],
    ['choice "a b" "when"', { domain: { kind: "choice", choices: ["a b", "when"] } }],
  ])("%s", (text, expected) => {
    expect(parseParameter(text)).toEqual(expected);
  });

  test("is there only where its condition holds", () => {
    const momentum = { domain: { kind: "float", low: 0, high: 1, log: false } };
    expect(parseParameter("float 0 1 when optimizer=sgd")).toEqual({
      ...momentum,
      when: { parameter: "optimizer", values: ["sgd"] },
    });
    expect(parseParameter('float 0 1 when optimizer = sgd, "a b"').when?.values).toEqual(["sgd", "a b"]);
  });

  test.each([
    "float 0.00001 0.1 log when optimizer=sgd,adam",
    "float 0 1 step 0.25",
    "int 1 8",
    "int 0 100 step 25",
    'choice "a b" c',
    `choice "'a" it's l' "'b'"`,
    'choice "[1]" "64,32"',
  ])("%s is shown as it was written", (text) => {
    expect(parameterWords(parseParameter(text))).toBe(text);
  });

  test.each([
    ["uniform 0 1", "a parameter such as float 1e-5 1e-1 log"],
    ["", "a parameter such as"],
    ["float 0", "float LOW HIGH, with either log or step S"],
    ["float 0 one", "float LOW HIGH, with either log or step S"],
    ["int 1 2.5", "int LOW HIGH, with either log or step S"],
    ["float 0 1 logarithmic", "float LOW HIGH, with either log or step S"],
    ["float 0.1 1 log step 0.1", "float LOW HIGH, with either log or step S"],
    ["float 1 0", "with the lower number first"],
    ["float 0 1 log", "with LOW above 0"],
    ["float 0 1 step 0.3", "HIGH a whole number of steps above LOW, such as float 0 0.9 step 0.3"],
    ["int 1 8 step 9", "such as int 1 10 step 9"],
    ["float 0 1 step 0", "S above 0"],
    ["choice", "choice with the values behind it"],
    ['choice "adam sgd', "with a closing quote behind each value in quotes"],
    ['choice "say ""hi"" to all" b', "with blanks around each value in quotes, which has none itself"],
    ['choice a"b c"', "with blanks around each value in quotes"],
    ['choice "a b"c', "with blanks around each value in quotes"],
    ['choice \\"a b\\" c', "with blanks around each value in quotes"],
    ['float 0 1 when optimizer="a b"c', "with blanks around each value in quotes"],
    ["choice 'a b' c", "with values in \", not in '"],
    ["choice 'a' 'b'", "with values in \", not in '"],
    ["choice a,b", 'blanks alone between its values, such as choice a b (or in " where a value has them)'],
    ["choice [a, b]", "blanks alone between its values, such as choice a b"],
    ["choice a a", "choice with each value once"],
    ["choice 1 1.0", "choice with each value once"],
    ["int 1 2 when", "with when NAME=VALUE behind it"],
    ["int 1 2 when optimizer=", "with when NAME=VALUE behind it"],
  ])("%s is refused: %s", (text, mustBe) => {
    expect(() => parseParameter(text)).toThrow(mustBe);
    expect(() => parseParameter(text)).toThrow(`not "${text}"`);
  });
});
