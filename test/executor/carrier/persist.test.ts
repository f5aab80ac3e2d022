import { describe, expect, test } from "@jest/globals";
import { persistently } from "../../../executor/carrier/persist.ts";
import { FileSystemError, type FileSystemErrorCode } from "../../../src/hadoop/hdfs/errors.ts";

/** Fails with that code so many times. @returns how often it was tried, and the pauses in between */
async function tried(failures: number, code: FileSystemErrorCode, stopAfter = Number.POSITIVE_INFINITY) {
  const stop = new AbortController();
  const pausesMs: number[] = [];
  let tries = 0;
  const work = async () => {
    tries += 1;
    if (tries <= failures) throw new FileSystemError("no", { code });
  };
  const pause = async (ms: number) => pausesMs.push(ms);
  const failed = () => {
    if (tries === stopAfter) stop.abort();
  };
  const persistence = { random: () => 0.999999, pause, failed };
  const done = await persistently(work, stop.signal, persistence).then(
    () => true,
    () => false,
  );
  return { done, tries, pausesMs };
}

describe("work that fails", () => {
  test("is tried again after pauses that grow, until it is done or was tried often enough", async () => {
    expect(await tried(3, "UNREACHABLE")).toEqual({ done: true, tries: 4, pausesMs: [1000, 2000, 4000] });
    const all = [1000, 2000, 4000, 8000, 15_000];
    expect(await tried(99, "SAFE_MODE")).toEqual({ done: false, tries: 6, pausesMs: all });
  });

  test("is not tried again where that cannot help, or nobody waits for it any more", async () => {
    expect(await tried(99, "ACCESS_DENIED")).toMatchObject({ done: false, tries: 1, pausesMs: [] });
    expect(await tried(99, "UNREACHABLE", 2)).toMatchObject({ done: false, tries: 2 });
  });
});
