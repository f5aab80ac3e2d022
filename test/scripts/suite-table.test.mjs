import { readFileSync } from "node:fs";
import { describe, expect, test } from "@jest/globals";
import { readMeasured } from "../../scripts/test/measured.mjs";
import { phases } from "../../scripts/test/phases.mjs";
import { countReceived } from "../../scripts/test/received-bytes.mjs";
import { suiteColumns, suiteMarkdown, withSuites } from "../../scripts/test/suite-table.mjs";

describe("the table of suites", () => {
  const some = [
    { name: "packages", what: "npm ci", needs: [], prepares: true },
    { name: "build", what: "bundles", needs: ["packages"], prepares: true },
    { name: "unit", what: "tests", needs: ["build"], everyday: true },
    { name: "e2e", what: "jobs", needs: ["build"] },
    { name: "e2e-ray", what: "jobs of Ray", needs: ["build"], turn: 2 },
  ];
  const measured = {
    packages: { seconds: 40, megabytes: 90 },
    build: { seconds: 9, megabytes: 0 },
    unit: { seconds: 120, megabytes: 1 },
  };

  test("says what each proves, takes, fetches with all that it needs, and which command runs it", () => {
    expect(suiteMarkdown(some, measured).split("\n").slice(2)).toEqual([
      "| `unit` | tests | 120 | 91 | npm test |",
      "| `e2e` | jobs | – | 90 | npm run test:all |",
      "| `e2e-ray` | jobs of Ray | – | 90 | test:all, in turn |",
    ]);
    expect(suiteColumns(some, measured).split("\n")[1]).toBe(
      "unit                       120         91  npm test          tests",
    );
  });

  test("of CONTRIBUTING.md is that of npm test -- --list: npm run docs writes it", () => {
    const page = readFileSync("CONTRIBUTING.md", "utf8");
    expect(page).toBe(withSuites(page, suiteMarkdown(phases, readMeasured())));
    expect(page).toContain("| `e2e` |");
  });
});

test("what came over the network is counted without what the machine sends itself", () => {
  const table = [
    "Inter-|   Receive                                                |  Transmit",
    " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets",
    "    lo: 5000 1 0 0 0 0 0 0 5000 1",
    "  eth0: 700 2 0 0 0 0 0 0 100 1",
    "  eth1:30 2 0 0 0 0 0 0 100 1",
  ];
  expect(countReceived(table.join("\n"))).toBe(730);
});
