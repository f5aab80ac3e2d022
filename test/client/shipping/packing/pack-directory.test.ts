import { execFileSync } from "node:child_process";
import { lstatSync, readdirSync, readFileSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { chmod, mkdir, mkdtemp, rename, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { fingerprintTree, readTree } from "../../../../client/shipping/packing/directory-tree.ts";
import { packDirectory } from "../../../../client/shipping/packing/pack-directory.ts";

let base: string;
let folder: string;
beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), "pack-"));
  folder = join(base, "program");
  await mkdir(folder);
});
afterEach(() => rm(base, { recursive: true }));

/** With nothing left out. */
const readAll = () => readTree(folder, async () => false);

async function pack(name = "archive.tar.gz"): Promise<Buffer> {
  const archive = join(base, name);
  await packDirectory(await readAll(), archive);
  return readFileSync(archive);
}

/** Unpacked as a NodeManager does it: by the system's tar. */
async function packAndUnpack(): Promise<string> {
  await pack();
  const unpacked = join(base, "unpacked");
  await rm(unpacked, { recursive: true, force: true });
  await mkdir(unpacked);
  execFileSync("tar", ["-xzf", join(base, "archive.tar.gz"), "-C", unpacked]);
  return unpacked;
}

/** The content of every file that can be read below a folder, by its path; undefined where links go leads back to itself. */
function readable(root: string, below = "", above: readonly string[] = []): Record<string, string> | undefined {
  const real = realpathSync(join(root, below));
  if (above.includes(real)) return undefined;
  const found: Record<string, string> = {};
  for (const name of readdirSync(join(root, below))) {
    const path = join(below, name);
    if (statSync(join(root, path)).isFile()) found[path] = readFileSync(join(root, path), "utf8");
    else {
      const inner = readable(root, path, [...above, real]);
      if (inner === undefined) return undefined;
      Object.assign(found, inner);
    }
  }
  return found;
}

describe("a packed folder", () => {
  test("has all files behind one whose size is that of whole blocks", async () => {
    for (const [name, bytes] of [
      ["a", 512],
      ["b", 1_024],
      ["c", 511],
      ["d", 513],
    ] as const)
      await writeFile(join(folder, name), Buffer.alloc(bytes, name));
    const unpacked = await packAndUnpack();
    expect(readdirSync(unpacked).map((name) => statSync(join(unpacked, name)).size)).toEqual([512, 1_024, 511, 513]);
  });

  test("keeps modes, times of files, empty folders and links inside it, as tar unpacks them", async () => {
    await mkdir(join(folder, "bin"));
    await mkdir(join(folder, "empty"), { mode: 0o750 });
    await writeFile(join(folder, "bin/run"), "#!/bin/sh\n");
    await chmod(join(folder, "bin/run"), 0o755);
    await utimes(join(folder, "bin/run"), 1_600_000_000, 1_600_000_000);
    await symlink("bin/run", join(folder, "start"));
    await symlink("/usr/bin/python3", join(folder, "bin/python"));
    const unpacked = await packAndUnpack();
    expect(readdirSync(unpacked).sort()).toEqual(["bin", "empty", "start"]);
    const run = lstatSync(join(unpacked, "bin/run"));
    expect([run.mode & 0o777, run.mtimeMs]).toEqual([0o755, 1_600_000_000_000]);
    expect(lstatSync(join(unpacked, "empty")).mode & 0o777).toBe(0o750);
    expect(readlinkSync(join(unpacked, "start"))).toBe("bin/run");
    expect(readlinkSync(join(unpacked, "bin/python"))).toBe("/usr/bin/python3");
  });

  test("has the content of a relative link that leads out of it", async () => {
    await writeFile(join(base, "shared.txt"), "shared");
    await mkdir(join(base, "common"));
    await writeFile(join(base, "common/a.txt"), "a");
    await symlink("../shared.txt", join(folder, "s.txt"));
    await symlink("../common", join(folder, "common"));
    await mkdir(join(base, "common/deep"));
    await symlink("../a.txt", join(base, "common/deep/within"));
    const unpacked = await packAndUnpack();
    expect(readlinkSync(join(unpacked, "common/deep/within"))).toBe("../a.txt");
    expect(readFileSync(join(unpacked, "s.txt"), "utf8")).toBe("shared");
    expect(readFileSync(join(unpacked, "common/a.txt"), "utf8")).toBe("a");
  });

  test("reads as the folder does, wherever links lead: in and out of it, to links, and within folders behind links", async () => {
    const places = ["program", "program/in", "program/in/deep", "common", "common/deep", "other"];
    const link = fc.record({
      from: fc.constantFrom(...places),
      to: fc.nat(),
      isAbsolute: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(link, { minLength: 1, maxLength: 8 }), async (links) => {
        for (const place of places) {
          await rm(join(base, place), { recursive: true, force: true });
          await mkdir(join(base, place), { recursive: true });
          await writeFile(join(base, place, "file"), place);
        }
        const targets = [...places, ...places.map((place) => `${place}/file`)].filter((one) => one !== "program");
        for (const [index, { from, to, isAbsolute }] of links.entries()) {
          const name = `${from}/link${index}`;
          const target = targets[to % targets.length] ?? "";
          if (from === target || from.startsWith(`${target}/`)) continue;
          await symlink(
            isAbsolute ? join(base, target) : relative(join(base, from), join(base, target)),
            join(base, name),
          );
          targets.push(name);
        }
        const read = readable(folder);
        fc.pre(read !== undefined);
        expect(readable(await packAndUnpack())).toEqual(read);
      }),
      { numRuns: 60 },
    );
  });

  test("holds names of every length and script", async () => {
    const names = fc.uniqueArray(
      fc
        .oneof(
          fc.string({ minLength: 1, maxLength: 80, unit: "grapheme" }),
          fc.string({ minLength: 90, maxLength: 110, unit: fc.constantFrom("a", "b", " ") }),
        )
        .filter((name) => !/[/\0]/.test(name) && name !== "." && name !== ".." && Buffer.byteLength(name) <= 255),
      { minLength: 1, maxLength: 8, selector: (name) => name.normalize("NFC").toLowerCase() },
    );
    await fc.assert(
      fc.asyncProperty(names, async (list) => {
        await rm(folder, { recursive: true });
        await mkdir(join(folder, "x".repeat(60)), { recursive: true });
        for (const name of list) await writeFile(join(folder, "x".repeat(60), name), name);
        const unpacked = await packAndUnpack();
        expect(readdirSync(join(unpacked, "x".repeat(60))).sort()).toEqual([...list].sort());
        for (const name of list) expect(readFileSync(join(unpacked, "x".repeat(60), name), "utf8")).toBe(name);
      }),
      { numRuns: 20 },
    );
  });

  test("is the same bytes from the same tree, whatever the order on disk", async () => {
    const time = new Date(1_700_000_000_000);
    const fill = async (names: readonly string[]) => {
      for (const name of names) {
        await writeFile(join(folder, name), name);
        await utimes(join(folder, name), time, time);
      }
    };
    await fill(["b", "a", "c"]);
    const first = await pack();
    await rm(folder, { recursive: true });
    await mkdir(folder);
    await fill(["c", "b", "a"]);
    expect(first.equals(await pack())).toBe(true);
  });

  test("is for its user alone, belongs to nobody, and has no bits that give another user's rights", async () => {
    await writeFile(join(folder, "run"), "#!/bin/sh\n");
    await chmod(join(folder, "run"), 0o4755);
    await pack();
    expect(statSync(join(base, "archive.tar.gz")).mode & 0o777).toBe(0o600);
    const listed = execFileSync("tar", ["--numeric-owner", "-tvzf", join(base, "archive.tar.gz")], {
      encoding: "utf8",
    });
    expect(listed).toMatch(/^-rwxr-xr-x 0\/0 +10 /);
  });

  test("has the same fingerprint when a file came and went, and another where one is renamed", async () => {
    await writeFile(join(folder, "a"), "1");
    const before = fingerprintTree(await readAll());
    await writeFile(join(folder, "b"), "1");
    await rm(join(folder, "b"));
    expect(fingerprintTree(await readAll())).toBe(before);
    await rename(join(folder, "a"), join(folder, "b"));
    expect(fingerprintTree(await readAll())).not.toBe(before);
  });

  test("has another fingerprint when a file changed, even within the same second and size", async () => {
    await writeFile(join(folder, "a"), "1");
    const before = fingerprintTree(await readAll());
    expect(fingerprintTree(await readAll())).toBe(before);
    await writeFile(join(folder, "a"), "2");
    expect(fingerprintTree(await readAll())).not.toBe(before);
  });
});

describe("what cannot be packed", () => {
  test("is named: a link to nothing, a circle, a socket", async () => {
    await symlink("../nothing", join(folder, "dangling"));
    await expect(readAll()).rejects.toThrow(
      /dangling is a link to \.\.\/nothing, which cannot be read.*remove it from the folder/,
    );
    await rm(join(folder, "dangling"));

    await symlink("../program", join(folder, "circle"));
    await expect(readAll()).rejects.toThrow(/is a link that leads back to itself/);
    await rm(join(folder, "circle"));

    const server = createServer();
    await new Promise<void>((resolve) => server.listen(join(folder, "socket"), resolve));
    await expect(readAll()).rejects.toThrow(/socket is a socket, a pipe or a device/);
    await new Promise((resolve) => server.close(resolve));
  });

  test("is named: what has no name in UTF-8", async () => {
    await writeFile(Buffer.concat([Buffer.from(`${folder}/caf`), Buffer.from([0xe9])]), "latin");
    await expect(readAll()).rejects.toThrow(/caf� has a name that is not UTF-8: rename it/);
  });

  test("is more of a file than it had when it was looked at", async () => {
    await writeFile(join(folder, "log"), "12345");
    const tree = await readAll();
    await writeFile(join(folder, "log"), "1234567890");
    await packDirectory(tree, join(base, "archive.tar.gz"));
    const content = execFileSync("tar", ["-xzOf", join(base, "archive.tar.gz"), "log"], { encoding: "utf8" });
    expect(content).toBe("12345");
  });

  test("is a file that became shorter meanwhile", async () => {
    await writeFile(join(folder, "a"), "12345");
    const tree = await readAll();
    await writeFile(join(folder, "a"), "1");
    await expect(packDirectory(tree, join(base, "x"))).rejects.toMatchObject({ code: "FILE_CHANGED" });
  });
});

test("a full disk is named, and TMPDIR", async () => {
  await writeFile(join(folder, "data"), Buffer.alloc(100_000, "x"));
  await expect(packDirectory(await readAll(), "/dev/full")).rejects.toThrow(
    "the disk of /dev, where what is sent is packed first, is full: free some, or set TMPDIR to a folder with room for it",
  );
});
