import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { IgnoreRules } from "../../../../client/shipping/packing/ignore-rules.ts";

const leavesOut = (text: string, entry: string) =>
  new IgnoreRules(text).verdict(entry.replace(/\/$/, ""), entry.endsWith("/")) === "leave-out";

describe("a pattern of an ignore file", () => {
  test.each([
    ["*.ckpt", ["a.ckpt", "runs/b.ckpt"], ["a.ckpt.txt", "ckpt"]],
    ["data", ["data", "data/", "src/data/"], ["data.py", "mydata"]],
    ["data/", ["data/", "src/data/"], ["data"]],
    ["/data", ["data", "data/"], ["src/data"]],
    ["src/data", ["src/data"], ["data", "lib/src/data"]],
    ["**/cache", ["cache", "a/b/cache"], ["cached"]],
    ["a/**", ["a/b", "a/b/c"], ["a/"]],
    ["a/**/b", ["a/b", "a/x/y/b"], ["ab"]],
    ["?.log", ["1.log"], ["12.log", "/.log"]],
    ["run[0-9]", ["run1"], ["runs"]],
    ["run[!0-9]", ["runs"], ["run1"]],
    ["\\#notes", ["#notes"], ["notes"]],
    ["a.b+(c)", ["a.b+(c)"], ["axb+(c)"]],
    ["odd[", ["odd["], ["odd"]],
    ["end   ", ["end"], ["end "]],
  ])("%s", (pattern, matched, unmatched) => {
    for (const entry of matched) expect([entry, leavesOut(pattern, entry)]).toEqual([entry, true]);
    for (const entry of unmatched) expect([entry, leavesOut(pattern, entry)]).toEqual([entry, false]);
  });

  test("gives way to a later one, and a comment or an empty line says nothing", () => {
    const text = "# logs\n\n*.log\n!keep.log\r\n";
    expect(leavesOut(text, "a.log")).toBe(true);
    expect(leavesOut(text, "keep.log")).toBe(false);
    expect(new IgnoreRules(text).verdict("keep.log", false)).toBe("keep");
    expect(new IgnoreRules(text).verdict("# logs", false)).toBeUndefined();
  });
});

test("git itself judges the same entries alike", () => {
  const text = "*.ckpt\n/data\nsrc/*.txt\n**/cache/\nlogs/**/x\n[a-c]?.py\n!b1.py\n\\!odd\ntrailing \n";
  const files = [
    ...["a.ckpt", "d/a.ckpt", "data", "d/data", "src/a.txt", "src/d/a.txt", "d/cache/f", "logs/x", "logs/1/2/x"],
    ...["a1.py", "b1.py", "d1.py", "!odd", "trailing", "plain"],
  ];
  const folder = mkdtempSync(path.join(tmpdir(), "ignore-"));
  try {
    execFileSync("git", ["init", "-q", folder]);
    writeFileSync(path.join(folder, ".gitignore"), text);
    for (const file of files) {
      mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
      writeFileSync(path.join(folder, file), "");
    }
    const listed = execFileSync("git", ["-C", folder, "ls-files", "-z", "-o", "-i", "--exclude-standard"], {
      encoding: "utf8",
    });
    const rules = new IgnoreRules(text);
    const parts = (file: string) => file.split("/").map((_, index, all) => all.slice(0, index + 1).join("/"));
    const ours = files.filter((file) =>
      parts(file).some((entry) => rules.verdict(entry, entry !== file) === "leave-out"),
    );
    expect(ours.sort()).toEqual(listed.split("\0").filter(Boolean).sort());
  } finally {
    rmSync(folder, { recursive: true });
  }
});

describe("git itself judges the same entries alike by", () => {
  const files = [
    ..."ax bx ]x ]y ay a*b axb [x x y/z q/y/z foo/1/bar foo/1/2/bar m.o m.a m.c file fle aq bq ]q \\q a/1".split(" "),
    ..."a/s/t d/foo foo1 p/one one p/q/two two 5d dd ac w g/w g/h/w * ? \\ dir/sub/f dir/g/sub/f k ]k \\k am".split(
      " ",
    ),
    ..."-m dm n zn an ^n lead Ab _u fu Fu .u a/b/c/d".split(" "),
    ...[" d", "x y", " lead"],
  ];
  let folder = "";
  beforeAll(() => {
    folder = mkdtempSync(path.join(tmpdir(), "ignore-"));
    execFileSync("git", ["init", "-q", folder]);
    for (const file of files) {
      mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
      writeFileSync(path.join(folder, file), "");
    }
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  test.each([
    ..."[!a]x [^a]x []]x []a]y [!]]k [\\]]k [a-\\]]q [\\\\]q [z-a]n [!z-a]n [a-c-]m [*] [a/]c [a^]n [n^]n".split(" "),
    ..."a[[]b [![:upper:]_]u [[:digit:]-f]u [[:none:]]u a\\*b \\[x \\? \\\\ \\a* ? /* * ** *** *.[oa] f?le".split(" "),
    ..."foo/*/bar */one **/*/two **/y/z **foo foo** a**b x/** /foo/ foo//bar /** **/ a/**/ dir/**/sub/".split(" "),
    ..."**/**/w /**/w a/**/**/d a/**/** / !x".split(" "),
    ...["x y", " lead"],
    ..."alnum alpha blank digit lower cntrl graph print punct space upper xdigit"
      .split(" ")
      .map((name) => `[[:${name}:]]?`),
  ])("%j", (pattern) => {
    const arguments_ = ["-C", folder, "ls-files", "-z", "-o", "-i", "-x", pattern];
    const listed = execFileSync("git", arguments_, { encoding: "utf8" }).split("\0").filter(Boolean);
    const parts = (file: string) => file.split("/").map((_, index, all) => all.slice(0, index + 1).join("/"));
    const leavesOutPart = (file: string) =>
      parts(file).some((entry) => leavesOut(pattern, entry === file ? entry : `${entry}/`));
    expect(files.filter(leavesOutPart).sort()).toEqual(listed.sort());
  });
});
