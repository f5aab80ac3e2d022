import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { filesBelow } from "../../../executor/carrier/local-files.ts";
import { CarrierScene } from "./scene.ts";

let scene: CarrierScene;
const never = new AbortController().signal;

beforeEach(() => {
  scene = new CarrierScene();
});
afterEach(() => scene.remove());

function linkTo(target: string, name: string) {
  symlinkSync(target, path.join(scene.workFolder, name));
}

async function found(signal = never) {
  const { files, leftOut } = await filesBelow(path.join(scene.workFolder, "results"), signal, {
    mostBehindALink: 100,
  });
  return { files: files.map((file) => file.path).sort(), leftOut };
}

describe("the files below a folder", () => {
  test("are found while everything else goes on", async () => {
    scene.write(Object.fromEntries(Array.from({ length: 2_000 }, (_, index) => [`results/${index}`, ""])));
    let turns = 0;
    const turn = setInterval(() => (turns += 1), 1);
    expect((await found()).files).toHaveLength(2_000);
    clearInterval(turn);
    expect(turns).toBeGreaterThan(3);
  });

  test("are looked for no longer than they are wanted", async () => {
    scene.write({ "results/model": "m" });
    const stop = new AbortController();
    const looking = found(stop.signal);
    stop.abort(new Error("it took too long"));
    await expect(looking).rejects.toThrow("it took too long");
  });

  test("are none of the kernel's: a link to a process leads to the whole machine", async () => {
    scene.write({ "results/model": "m" });
    linkTo("/proc/self", "results/p");
    const { files, leftOut } = await found();
    expect(files).toEqual(["model"]);
    expect(leftOut).toEqual([
      { path: "p", why: expect.stringMatching(/leads to \/proc\/\d+, which holds no/), isLoss: false },
    ]);
  });

  test("are all that a link leads to, or none of it where that is without end", async () => {
    scene.write({ "results/model": "m", "elsewhere/data": "d" });
    linkTo("../elsewhere", "results/few");
    const maze = path.join(scene.folder, "maze");
    const rooms = Array.from({ length: 6 }, (_, index) => `room-${index}`);
    for (const room of rooms) {
      mkdirSync(path.join(maze, room), { recursive: true });
      writeFileSync(path.join(maze, room, "thread"), "");
      for (const other of rooms) symlinkSync(`../${other}`, path.join(maze, room, other));
    }
    linkTo(maze, "results/many");
    const { files, leftOut } = await found();
    expect(files).toEqual(["few/data", "model"]);
    const why = "the link leads to a folder with more than 100 files";
    expect(leftOut).toEqual([{ path: "many", why, isLoss: true }]);
  });
});
