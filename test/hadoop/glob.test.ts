import { describe, expect, test } from "@jest/globals";
import { globExpression } from "../../src/hadoop/glob.ts";

describe("a glob", () => {
  test.each([
    ["nn/*@R.COM", "nn/host.r.com@R.COM", true],
    ["nn/*@R.COM", "nn/host@RXCOM", false],
    ["nn/*@R.COM", "xnn/host@R.COM", false],
    ["{nn,hdfs}/h?@R", "hdfs/h1@R", true],
    ["{nn,hdfs}/h?@R", "yarn/h1@R", false],
    ["nn/a,hdfs", "hdfs", false],
    ["nn/h[1-3]@R", "nn/h2@R", true],
    ["nn/h[!1-3]@R", "nn/h2@R", false],
    ["nn/\\*@R", "nn/*@R", true],
    ["nn/\\*@R", "nn/h@R", false],
    ["*", "anything", true],
  ])("%s over %s: %s", (glob, principal, matches) => {
    expect(globExpression(glob).test(principal)).toBe(matches);
  });

  test.each(["a}", "{a"])("%s cannot be read", (glob) => {
    expect(() => globExpression(glob)).toThrow(SyntaxError);
  });
});
