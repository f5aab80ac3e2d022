import { expect, test } from "@jest/globals";
import { TroubleLog } from "../../portal/trouble-log.ts";
import type { Scan } from "../../src/page/portal-answers.ts";

const well: Scan = { isComplete: true, folders: 0, read: 0, atMs: 1, unreadable: [] };

test("what keeps the portal from its work is told once, again when it changes, and when it is over", () => {
  const lines: string[] = [];
  const log = new TroubleLog((line) => lines.push(line));
  const round = (scan: Partial<Scan>) => {
    lines.length = 0;
    log.tell({ ...well, ...scan });
    return [...lines];
  };
  expect(round({})).toEqual([]);
  expect(round({ trouble: "no NameNode answers" })).toEqual(["the history cannot be read: no NameNode answers"]);
  expect(round({ trouble: "no NameNode answers" })).toEqual([]);
  expect(round({ trouble: "safe mode", yarnTrouble: "refused" })).toEqual([
    "the history cannot be read: safe mode",
    "the ResourceManager does not say which jobs run: refused",
  ]);
  expect(round({})).toEqual([
    "the history cannot be read: no more",
    "the ResourceManager does not say which jobs run: no more",
  ]);
});

test("also where nothing is kept, where no job is, and which histories cannot be read", () => {
  const lines: string[] = [];
  new TroubleLog((line) => lines.push(line)).tell({
    ...well,
    keepTrouble: "EACCES",
    emptyPlaces: ["hdfs://nn/h/intermediate, which does not exist", "hdfs://nn/h/finished"],
    unreadable: [
      { folder: "/h/a", why: "Permission denied" },
      { folder: "/h/b", why: "Permission denied" },
    ],
  });
  expect(lines).toEqual([
    "what was read is not kept for the next start (tony.portal.state-dir): EACCES",
    "there is no job yet: none in hdfs://nn/h/intermediate, which does not exist, nor in hdfs://nn/h/finished",
    "histories of jobs cannot be read: 2 jobs, such as /h/a: Permission denied",
  ]);
});
