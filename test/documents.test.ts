import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "@jest/globals";
import { commands } from "../client/commands/commands.ts";
import { claims } from "./documents/claims.ts";
import { brokenLinks } from "./documents/links.ts";
import { allShownLines, linesInMarkdown, type ShownLine } from "./documents/shown-lines.ts";

describe("the command lines of a document", () => {
  test("are those of shell blocks, without comments, and spans that begin with a program", () => {
    const markdown = [
      "Type `tony-ts list`, or read `job.xml`.",
      "```sh",
      "npm test     # everything",
      "# no command",
      "export A=1",
      "```",
      "| `tony-ts cache list\\|prune` | `tony.worker.memory` |",
      "```json",
      '{"tony-ts ": 1}',
      "```",
    ];
    expect(linesInMarkdown(markdown.join("\n"), "a.md")).toEqual([
      { line: "tony-ts list", at: "a.md:1" },
      { line: "npm test", at: "a.md:3" },
      { line: "export A=1", at: "a.md:5" },
      { line: "tony-ts cache list|prune", at: "a.md:7" },
    ]);
  });
});

describe("every command line that README, docs and the helps show", () => {
  let shown: readonly ShownLine[] = [];
  beforeAll(async () => {
    shown = await allShownLines();
  });

  test("is run by somebody: add a row to test/documents/claims.ts when this fails", () => {
    expect(shown.filter(({ line }) => claims[line] === undefined)).toEqual([]);
  });

  test("that the unit of systemd starts is one of them", () => {
    const unit = readFileSync("examples/portal/tony-ts-portal.service", "utf8");
    const [, line = "", conf] =
      /^ExecStart=\/usr\/bin\/env (tony-ts portal --maintain)( --conf \S+)?$/m.exec(unit) ?? [];
    expect(claims).toHaveProperty([line]);
    const [, folder] = /^StateDirectory=(\S+)$/m.exec(unit) ?? [];
    expect(conf).toBe(` --conf tony.portal.state-dir=/var/lib/${folder}`);
  });

  test("is still shown: take its row away when this fails", () => {
    const lines = new Set(shown.map(({ line }) => line));
    expect(Object.keys(claims).filter((line) => !lines.has(line))).toEqual([]);
  });

  test("that another test or row runs is there", () => {
    const missing = Object.entries(claims).filter(([, claim]) => {
      if (claim.where === "another-row") return !("typed" in (claims[claim.line] ?? {}));
      return claim.where === "elsewhere" && !readFileSync(claim.file, "utf8").includes(claim.text);
    });
    expect(missing).toEqual([]);
  });
});

describe("README", () => {
  test("lists every command", () => {
    const listed = linesInMarkdown(readFileSync("README.md", "utf8"), "README.md").map(({ line }) => line);
    const missing = commands.filter(({ verb }) => !listed.some((line) => line.startsWith(`tony-ts ${verb}`)));
    expect(missing.map(({ verb }) => verb)).toEqual([]);
  });
});

describe("links", () => {
  test("of README, docs and the rest of the package lead somewhere", () => {
    expect(brokenLinks(".")).toEqual([]);
  });

  test("of the README show the job's page and the portal, in pictures of 150 kB at most", () => {
    const readme = readFileSync("README.md", "utf8");
    for (const picture of ["docs/pictures/job-page.png", "docs/pictures/portal.png"]) {
      expect(readme).toContain(`](${picture})`);
      expect(readFileSync(picture).length).toBeLessThanOrEqual(150_000);
    }
  });
});
