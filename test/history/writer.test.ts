import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import type { FileSystem } from "../../src/hadoop/hdfs/file-system.ts";
import { LocalFileSystem } from "../../src/hadoop/hdfs/local.ts";
import { historyFileInProgress } from "../../src/history/layout.ts";
import { HistoryWriter } from "../../src/history/writer.ts";

describe("the history of a job", () => {
  let folder = "";
  let warnings: string[] = [];
  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "tony-history-"));
    warnings = [];
  });
  afterEach(() => rm(folder, { recursive: true }));

  const writerOf = (attempt: number, fileSystem: FileSystem = new LocalFileSystem()) =>
    new HistoryWriter({
      fileSystem,
      folder,
      makeFolder: () => fileSystem.mkdirs(folder, 0o750),
      attempt,
      warn: (message) => warnings.push(message),
    });
  const event = (name: string) =>
    ({ record: "event", type: "task-started", atMs: 1, generation: 1, host: name }) as const;
  const lines = async (name: string) => {
    const text = await readFile(path.join(folder, name), "utf8");
    return text
      .trimEnd()
      .split("\n")
      .map((line): unknown => JSON.parse(line));
  };

  test("is one file over all attempts, each line numbered within its attempt", async () => {
    const first = writerOf(1);
    first.add(event("a"));
    await first.flush();
    first.add(event("b"));
    await first.flush();
    const second = writerOf(2);
    second.add(event("c"));
    await second.flush();

    expect(await lines(historyFileInProgress)).toMatchObject([
      { attempt: 1, number: 1, host: "a" },
      { attempt: 1, number: 2, host: "b" },
      { attempt: 2, number: 1, host: "c" },
    ]);
  });

  test("has other files beside it, written anew each time", async () => {
    const writer = writerOf(1);
    await writer.writeBeside("series", Buffer.from("longer"));
    await writer.writeBeside("series", Buffer.from("short"));
    expect(await readFile(path.join(folder, "series"), "utf8")).toBe("short");
  });

  test("is named for its end when the job has ended", async () => {
    const writer = writerOf(1);
    writer.add(event("a"));
    await writer.finish("finished.jsonl");

    expect(await readdir(folder)).toEqual(["finished.jsonl"]);
  });

  test("keeps its lines while the file system is away, warns once each time, and writes them in order later", async () => {
    class Moody extends LocalFileSystem {
      away = true;
      override async create(...parameters: Parameters<LocalFileSystem["create"]>): Promise<void> {
        if (!this.away) return await super.create(...parameters);
        writer.add(event("b"));
        throw new Error("away");
      }
      override async append(...parameters: Parameters<LocalFileSystem["append"]>): Promise<void> {
        if (this.away) throw new Error("away again");
        await super.append(...parameters);
      }
    }
    const fileSystem = new Moody();
    const writer = writerOf(1, fileSystem);
    const rounds = async (...away: readonly boolean[]) => {
      for (const one of away) {
        fileSystem.away = one;
        await writer.flush();
      }
    };
    writer.add(event("a"));
    await rounds(true, true);
    expect(warnings).toEqual([expect.stringMatching(/: away$/)]);
    await rounds(false);
    writer.add(event("c"));
    await rounds(true, true);
    expect(warnings.slice(1)).toEqual([expect.stringMatching(/: away again$/)]);

    fileSystem.away = false;
    await writer.finish("finished.jsonl");
    expect(await lines("finished.jsonl")).toMatchObject(["a", "b", "b", "c"].map((host) => ({ host })));
  });
});
