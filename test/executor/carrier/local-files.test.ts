import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { filesBelow, holdFiles, requireWrittenBefore } from "../../../executor/carrier/local-files.ts";
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
  const { files, leftOut } = await filesBelow(
    { folder: path.join(scene.workFolder, "results"), workFolder: scene.workFolder },
    signal,
    { mostBehindALink: 100 },
  );
  return { files: files.map((file) => file.path).sort(), leftOut };
}

describe("the files of a checkpoint", () => {
  const below = async () => {
    const folder = path.join(scene.workFolder, "results");
    return { folder, ...(await filesBelow({ folder, workFolder: scene.workFolder }, never)) };
  };

  test("are held as copies on another file system, where nothing can be linked", async () => {
    scene.write({ "results/model": "m", "results/deep/data": "d" });
    const { folder, files } = await below();
    const elsewhere = mkdtempSync("/dev/shm/tony-ts-held-");
    const hold = path.join(elsewhere, "step-1");
    const held = await holdFiles(folder, files, hold, never);
    expect(scene.read(elsewhere)).toEqual({ "step-1/model": "m", "step-1/deep/data": "d" });
    expect(held.map((file) => [file.path, file.mtimeMs])).toEqual(
      held.map((file) => [file.path, statSync(path.join(hold, file.path)).mtimeMs]),
    );
    rmSync(elsewhere, { recursive: true });
  });

  test("are not held where one of them was written to since it was found", async () => {
    const file = scene.write({ "results/model": "m" });
    const { folder, files } = await below();
    writeFileSync(file, "longer");
    await expect(holdFiles(folder, files, path.join(scene.workFolder, "hold"), never)).rejects.toMatchObject({
      code: "FILE_CHANGED",
      message: "model was written to before it was uploaded",
    });
  });

  test("may be later than their report where another file system, with a clock of its own, has that", async () => {
    scene.write({ "results/model": "m" });
    const { folder, files } = await below();
    const { dev } = statSync(folder);
    await expect(requireWrittenBefore({ mtimeMs: 0, dev: dev + 1 }, folder, files)).resolves.toBeUndefined();
    await expect(requireWrittenBefore({ mtimeMs: 0, dev }, folder, files)).rejects.toMatchObject({
      code: "CHECKPOINT_REWRITTEN",
    });
  });
});

describe("the files below a folder", () => {
  test("are found while everything else goes on", async () => {
    scene.write(Object.fromEntries(Array.from({ length: 2_000 }, (_, index) => [`results/${index}`, ""])));
    let turns = 0;
    const turn = setInterval(() => (turns += 1), 1);
    expect((await found()).files).toHaveLength(2_000);
    clearInterval(turn);
    expect(turns).toBeGreaterThan(3);
  });

  test("are missed where their paths are longer than the kernel takes: that is a loss", async () => {
    scene.write({ "results/model": "m" });
    const name = "d".repeat(200);
    const deeper = `for i in $(seq 21); do mkdir ${name}; cd ${name}; done; echo m > model`;
    const results = path.join(scene.workFolder, "results");
    execFileSync("bash", ["-ec", deeper], { cwd: results });
    const { files, leftOut } = await found();
    execFileSync("rm", ["-r", name], { cwd: results });
    expect(files).toEqual(["model"]);
    const why = expect.stringMatching(/cannot be read \(ENAMETOOLONG\)$/);
    expect(leftOut).toEqual([{ path: expect.stringContaining(name), why, isLoss: true }]);
  });

  test("are none that are no files: of a pipe nothing is lost", async () => {
    scene.write({ "results/model": "m" });
    execFileSync("mkfifo", [path.join(scene.workFolder, "results/pipe")]);
    const why = "it is a socket, a pipe or a device";
    expect(await found()).toEqual({ files: ["model"], leftOut: [{ path: "pipe", why, isLoss: false }] });
  });

  test("are none where the folder itself is a link to where they are nobody's to store", async () => {
    scene.write({ "../container_2/model": "another's" });
    linkTo("../container_2", "results");
    const why = "the link leads to another container (container_2)";
    expect(await found()).toEqual({ files: [], leftOut: [{ path: ".", why, isLoss: true }] });
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
    linkTo("/proc/cpuinfo", "results/cpus");
    linkTo("/sys/class", "results/sys");
    const { files, leftOut } = await found();
    expect(files).toEqual(["model"]);
    const why = (place: string) => `the link leads to ${place}, where the kernel stores no files`;
    expect([...leftOut].sort((a, b) => a.path.localeCompare(b.path))).toEqual([
      { path: "cpus", why: why("/proc/cpuinfo"), isLoss: false },
      { path: "p", why: expect.stringMatching(/leads to \/proc\/\d+, where/), isLoss: false },
      { path: "sys", why: why("/sys/class"), isLoss: false },
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

  describe("are nothing of tony-ts's or YARN's, nor of other containers, wherever a link leads", () => {
    const secrets = ["container_tokens", "tony-tokens", "launch_container.sh", ".container_tokens.crc", "executor.cjs"];
    beforeEach(() => {
      scene.write({
        ...Object.fromEntries(secrets.map((name) => [name, "secret"])),
        ".tony-carrier/held": "secret",
        "tony-progress-1.jsonl": "{}",
        "own.txt": "own",
        "results/model": "m",
        "../container_2/container_tokens": "secret",
        "../container_2/model": "another's",
        "../filecache/10/data": "a resource",
      });
      scene.write({ "../filecache/11/real-node": "runtime" });
      linkTo("../filecache/11/real-node", "node");
      linkTo("../filecache/10/data", "data");
    });
    const own = ["data", "own.txt"];

    test.each([
      ["..", "results/up"],
      ["../.", "results/up"],
      [".", "results/../around"],
    ])("the working folder: %s", async (target, name) => {
      if (name.endsWith("around")) {
        linkTo(".", "around");
        linkTo("../around", "results/up");
      } else linkTo(target, name);
      const { files, leftOut } = await found();
      expect(files).toEqual(["model", ...own.map((file) => `up/${file}`)]);
      expect(leftOut.filter(({ isLoss }) => isLoss)).toEqual([]);
      expect(leftOut).toContainEqual({ path: "up/node", why: "it is a file of tony-ts's own", isLoss: false });
    });

    test("by its absolute path, or by the kernel's", async () => {
      linkTo(scene.workFolder, "results/absolute");
      expect((await found()).files).toEqual([...own.map((file) => `absolute/${file}`), "model"]);
    });

    test("as results that are a link to it", async () => {
      rmSync(path.join(scene.workFolder, "results"), { recursive: true });
      linkTo(".", "results");
      expect((await found()).files).toEqual(own);
    });

    test("one of them", async () => {
      for (const name of secrets) linkTo(`../${name}`, `results/to-${name}`);
      linkTo("../../container_2/container_tokens", "results/other");
      linkTo("../.tony-carrier", "results/carrier");
      linkTo("to-container_tokens", "results/twice");
      expect((await found()).files).toEqual(["model"]);
    });

    test.each(["../..", "../../container_2", "../../container_2/model", "/"])("what holds them: %s", async (target) => {
      linkTo(target, "results/up");
      const { files, leftOut } = await found();
      expect(files).toEqual(["model"]);
      expect(leftOut).toEqual([{ path: "up", why: expect.stringMatching(/^the link leads to /), isLoss: true }]);
    });
  });
});
