import { describe, expect, test } from "@jest/globals";
import {
  finishedFolder,
  finishedHistoryFile,
  parseHistoryFileName,
  startOfUnfinished,
  tonyHistoryFile,
} from "../../src/history/layout.ts";

const applicationId = "application_1795305600000_0001";
const job = { applicationId, startedAtMs: 5, user: "ada" };
const end = { endedAtMs: 9, result: "failed" } as const;

describe("the files of a job's history", () => {
  test("are named after the job, its time, user and result", () => {
    expect(finishedHistoryFile({ ...job, user: "a-b" }, end)).toBe(`${applicationId}-5-9-a-b-FAILED.jsonl`);
    expect(tonyHistoryFile(job)).toBe(`${applicationId}-5-ada.jhist.inprogress`);
    expect(tonyHistoryFile(job, end)).toBe(`${applicationId}-5-9-ada-FAILED.jhist`);
  });

  test("tell TonY's readers a user whose name they can read", () => {
    expect(tonyHistoryFile({ ...job, user: "Ada-Maria.K" }, end)).toBe(`${applicationId}-5-9-ada_maria_k-FAILED.jhist`);
  });

  test("say when a job began whose file is not finished", () => {
    expect(startOfUnfinished(tonyHistoryFile({ ...job, user: "a-b" }))).toBe(5);
    expect(startOfUnfinished(tonyHistoryFile({ ...job, applicationId: "local_1_0001" }))).toBe(5);
    expect(startOfUnfinished(tonyHistoryFile(job, end))).toBeUndefined();
    expect(startOfUnfinished("events.jsonl.inprogress")).toBeUndefined();
  });

  test("say by their names whose job it is, when it ran and how it ended", () => {
    const ofAB = { ...job, user: "a-b" };
    expect(parseHistoryFileName(finishedHistoryFile(ofAB, end))).toEqual({ format: "jsonl", ...ofAB, ...end });
    expect(parseHistoryFileName(tonyHistoryFile(job, end))).toEqual({ format: "jhist", ...job, ...end });
    expect(parseHistoryFileName(tonyHistoryFile(job))).toEqual({ format: "jhist", ...job });
    for (const name of ["events.jsonl.inprogress", "tony-final.xml", `${applicationId}-5-ada.txt`])
      expect(parseHistoryFileName(name)).toBeUndefined();
  });

  test("are kept by the day of the job's end, in the site's time zone", () => {
    const endedAtMs = Date.UTC(2026, 10, 23, 23, 30);
    const at = (timeZone: string) => finishedFolder("/history/finished", { applicationId, endedAtMs, timeZone });
    expect(at("UTC")).toBe(`/history/finished/2026/11/23/${applicationId}`);
    expect(at("Europe/Berlin")).toBe(`/history/finished/2026/11/24/${applicationId}`);
  });
});
