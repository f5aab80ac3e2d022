import {
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { CheckpointCarrier, type CheckpointCarrierOptions } from "../../../executor/carrier/checkpoint-carrier.ts";
import { Gate } from "../../../executor/carrier/gate.ts";
import { Pace } from "../../../executor/carrier/pace.ts";
import { restoreCheckpoint } from "../../../executor/carrier/restore.ts";
import type { FileSystem } from "../../../src/hadoop/hdfs/file-system.ts";
import { LocalFileSystem } from "../../../src/hadoop/hdfs/local.ts";
import type { Checkpoint } from "../../../src/job/execution.ts";
import type { Transfer } from "../../../src/job/status.ts";
import { MANIFEST, UNFINISHED } from "../../../src/job/stored/carried-names.ts";
import { deferred } from "../../support/deferred.ts";
import { eventually } from "../../support/eventually.ts";
import { silentLog } from "../../support/silent-log.ts";
import { CarrierScene, CleanedFileSystem, DyingFileSystem } from "./scene.ts";

let scene: CarrierScene;
let carried: Checkpoint[];
let transfers: Transfer[];

beforeEach(() => {
  scene = new CarrierScene();
  carried = [];
  transfers = [];
});
afterEach(() => scene.remove());

function carrier(
  fileSystem: FileSystem = new LocalFileSystem(),
  options: Partial<CheckpointCarrierOptions> = {},
): CheckpointCarrier {
  return new CheckpointCarrier({
    localDir: path.join(scene.workFolder, "ckpt"),
    workFolder: scene.workFolder,
    holdFolder: path.join(scene.workFolder, ".held"),
    folder: { fileSystem, path: scene.stays },
    keep: 2,
    pace: new Pace(undefined, Date.now),
    gate: new Gate(),
    log: silentLog,
    nowMs: () => 7,
    random: () => 0,
    pause: async () => undefined,
    report: (transfer) => transfers.push(transfer),
    carried: (checkpoint) => carried.push(checkpoint),
    ...options,
  });
}

/** The program saves it and says so. */
async function saves(one: CheckpointCarrier, step: number, files: Readonly<Record<string, string>>, name: string) {
  scene.write(Object.fromEntries(Object.entries(files).map(([file, text]) => [`ckpt/${file}`, text])));
  one.offer(name, { path: `ckpt/${name}`, step, atMs: step }, 1);
  await one.settled();
}

/** What is brought up to it waits until it may go on. */
function slowFileSystem() {
  const { promise: entered, resolve: enter } = deferred();
  const { promise: left, resolve: leave } = deferred();
  class Slow extends LocalFileSystem {
    override async mkdirs(target: string, permission: number) {
      enter();
      await left;
      await super.mkdirs(target, permission);
    }
  }
  return { fileSystem: new Slow(), entered, leave: () => leave() };
}

/** Another container brings back the furthest that is there, as if told of none that is gone. */
async function restored(): Promise<{ found: string; files: Record<string, string> }> {
  const localDir = path.join(scene.folder, "another", "ckpt");
  const found = await restoreCheckpoint({
    fileSystem: new LocalFileSystem(),
    checkpoint: `${scene.stays}/step-0-at-0`,
    localDir,
    scratch: path.join(scene.folder, "another", "scratch"),
    signal: new AbortController().signal,
    passed: () => undefined,
  });
  return { found: path.relative(localDir, found), files: scene.read(localDir) };
}

describe("a checkpoint that a program reports", () => {
  test("is brought up whole and can be brought back under its name: a file", async () => {
    await saves(carrier(), 45, { "step-45.pt": "weights", "step-46.pt.part": "half" }, "step-45.pt");
    expect(carried).toEqual([{ path: `file://${scene.stays}/step-45-at-45`, step: 45, atMs: 45 }]);
    expect(await restored()).toEqual({ found: "step-45.pt", files: { "step-45.pt": "weights" } });
    expect(transfers.map(({ state }) => state)).toEqual(["under-way", "done"]);
    expect(transfers.at(-1)).toMatchObject({ what: "checkpoint", step: 45, files: 1, bytes: 7, reason: "" });
  });

  test("a folder with all below it", async () => {
    const files = { "epoch-1/model/weights": "w", "epoch-1/optimizer": "o" };
    await saves(carrier(), 1, { ...files, "epoch-0/optimizer": "old" }, "epoch-1");
    expect(await restored()).toEqual({ found: "epoch-1", files });
  });

  test("the files that begin with its name, as TensorFlow saves them", async () => {
    const files = { "model-50.index": "i", "model-50.data-00000-of-00001": "d" };
    await saves(carrier(), 50, { ...files, "model-5.index": "older", checkpoint: "c" }, "model-50");
    expect(await restored()).toEqual({ found: "model-50", files });
  });

  test("may be removed or replaced by the program while it is brought up", async () => {
    const { fileSystem, entered, leave } = slowFileSystem();
    const one = carrier(fileSystem);
    const saving = saves(one, 45, { "latest.pt": "at 45" }, "latest.pt");
    await entered;
    const latest = path.join(scene.workFolder, "ckpt", "latest.pt");
    writeFileSync(`${latest}.part`, "at 60");
    renameSync(`${latest}.part`, latest);
    rmSync(latest);
    leave();
    await saving;
    expect((await restored()).files).toEqual({ "latest.pt": "at 45" });
    expect(scene.read(scene.workFolder)).toEqual({});
  });

  test("that comes while one is under way waits, and gives way to a newer one", async () => {
    const said: string[] = [];
    const one = carrier(new LocalFileSystem(), { log: { ...silentLog, info: (_, words) => void said.push(words) } });
    scene.write({ "ckpt/1": "a", "ckpt/2": "b", "ckpt/3": "c" });
    for (const step of [1, 2, 3]) one.offer(String(step), { path: `ckpt/${step}`, step, atMs: step }, 1);
    await one.settled();
    expect(said.filter((words) => words.includes("newer"))).toEqual([
      "The checkpoint of step 2 is not uploaded: there is a newer one.",
    ]);
    expect(carried.map(({ step }) => step)).toEqual([1, 3]);
    expect(Object.keys(scene.read(path.join(scene.workFolder, "ckpt")))).toEqual(["1", "2", "3"]);
  });

  test("is held beside the one under way, and no longer than until a newer one is", async () => {
    const { fileSystem, entered, leave } = slowFileSystem();
    const one = carrier(fileSystem);
    const holdFolder = path.join(scene.workFolder, ".held");
    const held = () => readdirSync(holdFolder).sort();
    scene.write({ "ckpt/1": "a", "ckpt/2": "b", "ckpt/3": "c" });
    const offer = (step: number) => one.offer(String(step), { path: `ckpt/${step}`, step, atMs: step }, 1);
    offer(1);
    await entered;
    for (const step of [2, 3]) {
      offer(step);
      await eventually(`step ${step} is held`, () => held().join() === `step-1-at-1,step-${step}-at-${step}`, 10_000);
    }
    leave();
    await one.settled();
    expect(held()).toEqual([]);
    expect(carried.map(({ step }) => step)).toEqual([1, 3]);
  });

  test("older ones go when a newer one is complete, and whatever an upload that died has left", async () => {
    scene.write({ [`../stays/${UNFINISHED}step-1-at-1/ckpt.pt`]: "half", "../stays/readme": "mine" });
    const one = carrier();
    for (const step of [1, 2, 3]) await saves(one, step, { [String(step)]: "w" }, String(step));
    expect(Object.keys(scene.read(scene.stays)).sort()).toEqual([
      "readme",
      "step-2-at-2/2",
      `step-2-at-2/${MANIFEST}`,
      "step-3-at-3/3",
      `step-3-at-3/${MANIFEST}`,
    ]);
  });

  test("that is not there is said to have failed, and nothing of it is held", async () => {
    const one = carrier();
    // What an executor before this one could not end.
    scene.write({ ".held/step-45-at-45/part": "half" });
    one.offer("step-45.pt", { path: "ckpt/step-45.pt", step: 45, atMs: 45 }, 1);
    await one.settled();
    expect(carried).toEqual([]);
    expect(transfers).toMatchObject([{ state: "failed", step: 45, reason: expect.stringContaining("does not exist") }]);
    expect(readdirSync(path.join(scene.workFolder, ".held"))).toEqual([]);
  });

  describe("and writes over in place while it is uploaded", () => {
    /** The program writes "BB" at that place of the file when its upload begins. */
    class Overwritten extends LocalFileSystem {
      override async mkdirs(...args: Parameters<LocalFileSystem["mkdirs"]>) {
        await super.mkdirs(...args);
        const file = openSync(path.join(scene.workFolder, "ckpt/last"), "r+");
        writeSync(file, "BB", 0);
        closeSync(file);
      }
    }

    test("is stored as it was reported where it is small", async () => {
      await saves(carrier(new Overwritten()), 45, { last: "AAAA" }, "last");
      expect((await restored()).files).toEqual({ last: "AAAA" });
      expect(scene.read(scene.workFolder)).toEqual({ "ckpt/last": "BBAA" });
    });

    test("is not that checkpoint: tried once, said with a mend, and the one before stays the last", async () => {
      await saves(carrier(), 44, { before: "whole" }, "before");
      const pauses: number[] = [];
      const one = carrier(new Overwritten(), { pause: async (ms) => pauses.push(ms) });
      scene.write({ "ckpt/last": "" });
      truncateSync(path.join(scene.workFolder, "ckpt/last"), 65 * 1_048_576);
      one.offer("last", { path: "ckpt/last", step: 45, atMs: 45 }, 1);
      await one.settled();
      const reason =
        "last was written to before it was uploaded: save each checkpoint under a name of its own, or beside it and rename it";
      expect(transfers.at(-1)).toMatchObject({ state: "failed", step: 45, reason });
      expect(pauses).toEqual([]);
      expect(carried.map(({ step }) => step)).toEqual([44]);
      expect(await restored()).toEqual({ found: "before", files: { before: "whole" } });
    });
  });

  test("with no file in it is refused", async () => {
    const one = carrier();
    mkdirSync(path.join(scene.workFolder, "ckpt/s1/empty"), { recursive: true });
    one.offer("s1", { path: "ckpt/s1", step: 1, atMs: 1 }, 1);
    await one.settled();
    expect(carried).toEqual([]);
    expect(transfers).toMatchObject([{ state: "failed", reason: expect.stringMatching(/ckpt\/s1 holds no file$/) }]);
  });

  test("of many files holds up nothing else while they are found", async () => {
    scene.write(Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`ckpt/big/${index}`, ""])));
    let turns = 0;
    const turn = setInterval(() => (turns += 1), 1);
    const one = carrier();
    one.offer("big", { path: "ckpt/big", step: 1, atMs: 1 }, 1);
    await one.settled();
    clearInterval(turn);
    expect(transfers.at(-1)).toMatchObject({ state: "done", files: 500 });
    expect(turns).toBeGreaterThan(3);
  });

  test("is tried again; what fails for good is said with its reason, and the next one has its own tries", async () => {
    const dead = new DyingFileSystem(1, false);
    let tries = 0;
    const one = carrier(dead, {
      pause: async () => {
        tries += 1;
      },
    });
    await saves(one, 45, { "45": "w" }, "45");
    expect(tries).toBeGreaterThan(2);
    expect(transfers.at(-1)).toMatchObject({ state: "failed", step: 45, reason: "dead" });
    expect(carried).toEqual([]);
  });

  test("is given up when there is no time left, and says so", async () => {
    const one = carrier(new DyingFileSystem(1, false), { pause: async () => one.giveUp("it took too long") });
    await saves(one, 45, { "45": "w" }, "45");
    expect(transfers.at(-1)).toMatchObject({ state: "failed", reason: "it took too long" });
  });
});

describe("what somebody removes while it is brought up", () => {
  const files = { "60/first": "1", "60/last": "2" };
  const spoils: [string, (folder: string) => void][] = [
    ["a file", (folder) => rmSync(path.join(folder, "first"))],
    ["a part of a file", (folder) => truncateSync(path.join(folder, "first"), 0)],
    ["the whole folder", (folder) => rmSync(folder, { recursive: true })],
  ];

  test.each(spoils)("is brought up again: %s", async (_what, spoil) => {
    await saves(carrier(new CleanedFileSystem(2, spoil)), 60, files, "60");
    expect(transfers.at(-1)).toMatchObject({ state: "done", step: 60 });
    expect(await restored()).toEqual({ found: "60", files });
  });

  test.each(spoils)("makes no checkpoint where that never ends, and the one before stays: %s", async (_what, spoil) => {
    await saves(carrier(), 45, { "45": "old" }, "45");
    await saves(carrier(new CleanedFileSystem(-1, spoil)), 60, files, "60");
    const reason = expect.stringMatching(/_unfinished-step-60-at-60 is not as it was uploaded: /);
    expect(transfers.at(-1)).toMatchObject({ state: "failed", step: 60, reason });
    expect(carried.map(({ step }) => step)).toEqual([45]);
    expect(await restored()).toMatchObject({ found: "45" });
  });
});

describe("an executor that dies while it brings a checkpoint up", () => {
  const files = { "60/model": "new", "60/optimizer": "new" };

  /** How many calls an upload makes in all. */
  async function calls(): Promise<number> {
    const counting = new DyingFileSystem(Number.POSITIVE_INFINITY, false);
    await saves(carrier(counting), 60, files, "60");
    return counting.calls;
  }

  test("leaves the one before, or the new one whole, wherever it dies; and the next one goes on", async () => {
    const all = await calls();
    expect(all).toBeGreaterThan(6);
    const seen = new Set<string>();
    for (let diesAt = 1; diesAt <= all; diesAt += 1) {
      for (const afterwards of [false, true]) {
        rmSync(scene.stays, { recursive: true });
        await saves(carrier(), 45, { "45/model": "old", "45/optimizer": "old" }, "45");
        await saves(carrier(new DyingFileSystem(diesAt, afterwards)), 60, files, "60");
        const { found, files: back } = await restored();
        expect(back).toEqual(found === "60" ? files : { "45/model": "old", "45/optimizer": "old" });
        seen.add(found);

        await saves(carrier(), 75, { "75": "newest" }, "75");
        expect(await restored()).toEqual({ found: "75", files: { "75": "newest" } });
        expect(Object.keys(scene.read(scene.stays)).filter((name) => name.includes(UNFINISHED))).toEqual([]);
      }
    }
    expect([...seen].sort()).toEqual(["45", "60"]);
  });
});
