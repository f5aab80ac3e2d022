import { statSync } from "node:fs";
import { readdir, readFile, rm } from "node:fs/promises";
import path from "node:path";
import { beforeEach, describe, expect, jest, test } from "@jest/globals";
import type { FileSystem } from "../../src/hadoop/hdfs/file-system.ts";
import { LocalFileSystem } from "../../src/hadoop/hdfs/local.ts";
import { historyFileInProgress } from "../../src/history/layout.ts";
import { HistoryWriter } from "../../src/history/writer.ts";
import { eventually } from "../support/eventually.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

describe("the history of a job", () => {
  const folder = temporaryFolder();
  let warnings: string[] = [];
  beforeEach(() => {
    warnings = [];
  });

  const writerOf = (attempt: number, fileSystem: FileSystem = new LocalFileSystem()) =>
    new HistoryWriter({
      fileSystem,
      folder: folder.path,
      makeFolder: () => fileSystem.mkdirs(folder.path, 0o750),
      attempt,
      warn: (message) => warnings.push(message),
    });
  const event = (name: string) =>
    ({ record: "event", type: "task-started", atMs: 1, generation: 1, host: name }) as const;
  const lines = async (name: string) => {
    const text = await readFile(path.join(folder.path, name), "utf8");
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

  test("has other files beside it, in a folder that is made for the first, written anew each time", async () => {
    await rm(folder.path, { recursive: true });
    const writer = writerOf(1);
    await writer.writeBeside("series", Buffer.from("longer"));
    await writer.writeBeside("series", Buffer.from("short"));
    expect(await readFile(path.join(folder.path, "series"), "utf8")).toBe("short");
  });

  test("is named for its end when the job has ended", async () => {
    const writer = writerOf(1);
    writer.add(event("a"));
    await writer.finish("finished.jsonl");

    expect(await readdir(folder.path)).toEqual(["finished.jsonl"]);
  });

  test("that cannot be named for its end stays as it is, and that is said", async () => {
    const writer = writerOf(
      1,
      Object.assign(new LocalFileSystem(), { rename: () => Promise.reject(new Error("the NameNode is away")) }),
    );
    writer.add(event("a"));
    await writer.finish("finished.jsonl");
    expect(await lines(historyFileInProgress)).toMatchObject([{ host: "a" }]);
    const file = path.join(folder.path, historyFileInProgress);
    expect(warnings).toEqual([`The history in ${file} cannot be written: the NameNode is away`]);
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

  test("is written by one operation after the other, however often that is asked for at once", async () => {
    let underWay = 0;
    let most = 0;
    const alone = async (write: Promise<void>) => {
      underWay += 1;
      most = Math.max(most, underWay);
      await write;
      underWay -= 1;
    };
    class Counting extends LocalFileSystem {
      override create(...parameters: Parameters<LocalFileSystem["create"]>): Promise<void> {
        return alone(super.create(...parameters));
      }
      override append(...parameters: Parameters<LocalFileSystem["append"]>): Promise<void> {
        return alone(super.append(...parameters));
      }
    }
    const writer = writerOf(1, new Counting());
    const flushes = ["a", "b"].map((name) => {
      writer.add(event(name));
      return writer.flush();
    });
    await Promise.all(flushes);
    expect(most).toBe(1);
    expect(await lines(historyFileInProgress)).toMatchObject([{ host: "a" }, { host: "b" }]);
  });

  test("is written two seconds after each line that comes, again and again", async () => {
    jest.useFakeTimers({ doNotFake: ["nextTick", "setImmediate", "queueMicrotask", "performance"] });
    const writer = writerOf(1);
    for (const [at, name] of ["a", "b"].entries()) {
      writer.add(event(name));
      jest.advanceTimersByTime(2_000);
      const written = () => lines(historyFileInProgress).catch(() => []);
      await eventually(name, async () => (await written()).length === at + 1);
    }
    jest.useRealTimers();
    expect(await lines(historyFileInProgress)).toMatchObject([{ host: "a" }, { host: "b" }]);
  });

  test("is not put off by lines that come meanwhile", async () => {
    jest.useFakeTimers({ doNotFake: ["nextTick", "setImmediate", "queueMicrotask", "performance"] });
    const writer = writerOf(1);
    writer.add(event("a"));
    jest.advanceTimersByTime(1_999);
    expect(await readdir(folder.path)).toEqual([]);
    writer.add(event("b"));
    jest.advanceTimersByTime(1);
    await eventually("both", async () => (await lines(historyFileInProgress).catch(() => [])).length === 2);
    expect(jest.getTimerCount()).toBe(0);
    jest.useRealTimers();
  });

  test("is read by its owner's group, and needs no name where nothing could be written of it", async () => {
    const writer = writerOf(1);
    writer.add(event("a"));
    await writer.flush();
    await writer.writeBeside("series", Buffer.from("x"));
    const modes = [historyFileInProgress, "series"].map((name) => statSync(path.join(folder.path, name)).mode & 0o777);
    expect(modes).toEqual([0o640, 0o640]);
    await rm(path.join(folder.path, historyFileInProgress));
    await writerOf(2).finish("finished.jsonl");
    expect(warnings).toEqual([]);
  });

  test("gives up nothing of what is written in time, however much that is", async () => {
    const writer = writerOf(1);
    for (let nth = 1; nth <= 5; nth += 1) {
      writer.add(event("x".repeat(2 ** 20)));
      await writer.flush();
    }
    expect(warnings).toEqual([]);
    expect(await lines(historyFileInProgress)).toHaveLength(5);
  });

  test("is written ten seconds after a time that failed, unless the job has ended", async () => {
    jest.useFakeTimers({ doNotFake: ["nextTick", "setImmediate", "queueMicrotask", "performance"] });
    class Moody extends LocalFileSystem {
      tries = 0;
      override async create(...parameters: Parameters<LocalFileSystem["create"]>): Promise<void> {
        this.tries += 1;
        if (this.tries === 1) throw new Error("away");
        await super.create(...parameters);
      }
    }
    const fileSystem = new Moody();
    const writer = writerOf(1, fileSystem);
    writer.add(event("a"));
    await writer.flush();
    jest.advanceTimersByTime(9_999);
    expect(fileSystem.tries).toBe(1);
    jest.advanceTimersByTime(1);
    await eventually("the line", async () => (await readdir(folder.path)).length === 1);
    expect(await lines(historyFileInProgress)).toMatchObject([{ host: "a" }]);

    fileSystem.append = () => Promise.reject(new Error("away"));
    writer.add(event("b"));
    await writer.finish("finished.jsonl");
    expect(jest.getTimerCount()).toBe(0);
    jest.useRealTimers();
  });

  test("gives up its oldest lines, and says so, where more than 4 MiB wait for a file system that is away", async () => {
    class Away extends LocalFileSystem {
      override create() {
        return Promise.reject(new Error("away"));
      }
    }
    const writer = writerOf(1, new Away());
    const mebibyte = "x".repeat(2 ** 20);
    for (let nth = 1; nth <= 3; nth += 1) writer.add(event(mebibyte));
    await writer.flush();
    writer.add(event("small"));
    expect(warnings).toHaveLength(1);
    writer.add(event(mebibyte));
    expect(warnings.slice(1)).toEqual([expect.stringMatching(/^1 lines of history were given up/)]);
  });
});
