import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "@jest/globals";
import { SearchResults, storeSearchFiles } from "../../../am/storage/search-results.ts";
import { LocalFileSystem } from "../../../src/hadoop/hdfs/local.ts";
import type { TrialLine, TrialState } from "../../../src/job/search/trials.ts";
import { eventually } from "../../support/eventually.ts";
import { SteppedClock, turn } from "../../support/stepped-clock.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

/** What was written, by the names of the files. */
class Stored extends LocalFileSystem {
  readonly files: (readonly [name: string, text: string])[] = [];
  isAway = false;
  whenWriting: () => Promise<void> = async () => {};

  override async create(file: string, content: Uint8Array): Promise<void> {
    await this.whenWriting();
    if (this.isAway) throw new Error("the NameNode is away");
    this.files.push([file.replace(/^.*\/\.(.*)\.tmp$/, "$1"), Buffer.from(content).toString()]);
  }

  override async rename(): Promise<boolean> {
    return true;
  }
}

function running(folders: readonly string[] = ["/results/job"], isSearch = true) {
  const clock = new SteppedClock();
  let behindMs = 0;
  const fileSystem = new Stored();
  const states: TrialState[] = ["running", "running"];
  const left: TrialState[][] = [];
  const leave = async () => {
    if (fileSystem.isAway) throw new Error("the NameNode is away");
    left.push([...states]);
  };
  const results = new SearchResults({
    clock: { nowMs: () => clock.nowMs() + behindMs, after: (ms, call) => clock.after(ms, call) },
    folders,
    ...(isSearch && { leave }),
    fileSystems: { locate: (path) => ({ fileSystem, path }) },
    lines: () => states.map((state): TrialLine => ({ params: {}, state })),
    files: () => [{ "trials.jsonl": "all" }, { "tensorboard/0": "events" }],
  });
  const pass = (ms: number) => clock.pass(ms);
  const standStill = (ms: number) => {
    behindMs += ms;
  };
  results.begin();
  return { standStill, fileSystem, states, results, pass, left };
}

describe("the trials of a search", () => {
  test("are not stored again once its results are, whatever was being stored as it ended", async () => {
    const { states, fileSystem, pass, results } = running();
    let ended: Promise<void> | undefined;
    fileSystem.whenWriting = async () => {
      await turn();
      ended ??= results.end();
      await turn();
    };
    states[0] = "completed";
    await pass(10_000);
    await eventually("its end", () => ended !== undefined);
    await ended;
    const { length } = fileSystem.files;
    expect(fileSystem.files.at(-1)).toEqual(["0", "events"]);
    states[1] = "completed";
    await pass(600_000);
    expect(fileSystem.files).toHaveLength(length);
  });

  test("are stored while it runs, as they begin and end", async () => {
    const { states, fileSystem, pass } = running();
    const line = '{"params":{},"state":"running"}\n';
    await pass(10_000);
    expect(fileSystem.files).toEqual([["trials.jsonl", line + line]]);
    states[0] = "completed";
    await pass(10_000);
    expect(fileSystem.files.at(-1)).toEqual(["trials.jsonl", `{"params":{},"state":"completed"}\n${line}`]);
    await pass(10_000);
    expect(fileSystem.files).toHaveLength(2);
    states.push("running");
    await pass(10_000);
    expect(fileSystem.files).toHaveLength(3);
  });

  test("are not stored before the first has begun", async () => {
    const { states, fileSystem, pass, left } = running();
    states.length = 0;
    await pass(10_000);
    expect([...fileSystem.files, ...left]).toEqual([]);
  });

  test("are stored less often where that takes long: for a twentieth of the time at most", async () => {
    const { states, fileSystem, pass, standStill } = running();
    fileSystem.whenWriting = async () => standStill(1_000);
    await pass(10_000);
    states[0] = "completed";
    await pass(19_000);
    expect(fileSystem.files).toHaveLength(1);
    await pass(1_000);
    expect(fileSystem.files).toHaveLength(2);
  });

  test("are stored later where the file system is away", async () => {
    const { states, fileSystem, pass } = running();
    states[0] = "stopped";
    fileSystem.isAway = true;
    await pass(10_000);
    fileSystem.isAway = false;
    await pass(10_000);
    expect(fileSystem.files).toHaveLength(1);
  });

  test("are not touched by an ApplicationMaster that stood still: it may have been replaced", async () => {
    const { standStill, states, fileSystem, pass } = running();
    states[0] = "completed";
    standStill(60_000);
    await pass(10_000);
    expect(fileSystem.files).toEqual([]);
    await pass(10_000);
    expect(fileSystem.files).toHaveLength(1);
  });

  test("are stored with all else at its end, and not again", async () => {
    const { states, fileSystem, results, pass } = running();
    await results.end();
    expect(fileSystem.files).toEqual([
      ["trials.jsonl", "all"],
      ["0", "events"],
    ]);
    states[0] = "completed";
    await pass(10_000);
    expect(fileSystem.files).toHaveLength(2);
  });

  test("are in the last status alone where there is no folder for them", async () => {
    const { states, fileSystem, results, pass, left } = running([]);
    await pass(10_000);
    states[0] = "completed";
    await pass(20_000);
    expect(left).toEqual([
      ["running", "running"],
      ["completed", "running"],
    ]);
    await results.end();
    expect(fileSystem.files).toEqual([]);
  });

  test("are none of any other job", async () => {
    const { states, fileSystem, pass, left } = running([], false);
    states[0] = "completed";
    await pass(20_000);
    expect([...fileSystem.files, ...left]).toEqual([]);
  });
});

const folder = temporaryFolder();

test("the files of a search are stored in each folder, which need not be there, and replace those of an earlier try", async () => {
  const fileSystem = new LocalFileSystem();
  const locate = (name: string) => ({ fileSystem, path: path.join(folder.path, name) });
  for (const text of ["1", "2"]) await storeSearchFiles({ "result.json": text }, ["a/b", "c"], { locate });
  for (const name of ["a/b", "c"]) {
    expect(readdirSync(path.join(folder.path, name))).toEqual(["result.json"]);
    expect(readFileSync(path.join(folder.path, name, "result.json"), "utf8")).toBe("2");
  }
});
