import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { packingForOthers, packingOfFolder } from "../../../../client/shipping/packing/packing.ts";

let base: string;
let folder: string;
beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), "environment-"));
  folder = join(base, "env");
  await mkdir(join(folder, "bin"), { recursive: true });
  await mkdir(join(folder, "lib/python3.11/site-packages"), { recursive: true });
  await file("pyvenv.cfg", "home = /usr/bin\n");
});
afterEach(() => rm(base, { recursive: true }));

async function file(name: string, text: string, mode = 0o644): Promise<void> {
  await writeFile(join(folder, name), text);
  await chmod(join(folder, name), mode);
}

async function packed(): Promise<{ readonly unpacked: string; readonly remarks: readonly string[] }> {
  const { write, remarks } = await packingOfFolder(folder, "archive");
  const unpacked = join(base, "elsewhere");
  await mkdir(unpacked);
  await write(join(base, "env.tar.gz"));
  execFileSync("tar", ["-xzf", join(base, "env.tar.gz"), "-C", unpacked]);
  return { unpacked, remarks };
}

describe("a virtual environment that is sent", () => {
  const body = "import sys\nprint('trains with', *sys.argv[1:])\n";

  test.each([
    ["as pip writes it", () => `#!${folder}/bin/python3\n`],
    ["with an option", () => `#!${folder}/bin/python3 -E\n`],
    ["with a path too long for a first line", () => `#!/bin/sh\n'''exec' "${folder}/bin/python3" "$0" "$@"\n' '''\n`],
    ["of an environment that was moved", () => "#!/somewhere/else/bin/python3\n"],
  ])("has scripts that run by the Python beside them: %s", async (_case, head) => {
    await symlink(
      execFileSync("sh", ["-c", "command -v python3"], { encoding: "utf8" }).trim(),
      join(folder, "bin/python3"),
    );
    await file("bin/train", `${head()}${body}`, 0o755);
    const { unpacked, remarks } = await packed();
    await rm(folder, { recursive: true });

    expect(remarks).toEqual([]);
    const link = join(base, "venv");
    await symlink(unpacked, link);
    const said = execFileSync(join(link, "bin/train"), ["two words", "3"], { encoding: "utf8" });
    expect(said).toBe("trains with two words 3\n");
  });

  test("of conda has such scripts, too", async () => {
    await rm(join(folder, "pyvenv.cfg"));
    await mkdir(join(folder, "conda-meta"));
    await file("bin/python3", "\x7fELF", 0o755);
    await file("bin/train", `#!${folder}/bin/python3\n${body}`, 0o755);
    const { unpacked } = await packed();
    expect(await readFile(join(unpacked, "bin/train"), "utf8")).toMatch(/^#!\/bin\/sh\n'''exec' .*\/python3 "\$0"/);
  });

  test("keeps what is no script of its own: below bin, without the right to run it, or longer than any", async () => {
    await file("bin/python3", "\x7fELF", 0o755);
    await mkdir(join(folder, "bin/sub"));
    const script = `#!${folder}/bin/python3\n`;
    const long = script.padEnd(65_537, "#");
    await file("bin/sub/tool", script, 0o755);
    await file("bin/notes", script);
    await file("bin/long", long, 0o755);
    await file("bin/just", script.padEnd(65_536, "#"), 0o755);
    const { unpacked } = await packed();
    const read = (name: string) => readFile(join(unpacked, "bin", name), "utf8");
    expect(await Promise.all(["sub/tool", "notes", "long"].map(read))).toEqual([script, script, long]);
    expect(await read("just")).toMatch(/^#!\/bin\/sh\n/);
  });

  test.each([
    ["of the system's Python", "bin/tool", "#!/usr/bin/python3\n"],
    ["of one that was built here", "bin/tool", "#!/usr/local/bin/python3\n"],
    ["of any Python on the path", "bin/tool", "#!/usr/bin/env python3\n"],
    ["of a Python that it does not have", "bin/tool", "#!/home/ada/env/bin/python3.9\n"],
    ["that is no command", "lib/tool", "#!/home/ada/env/bin/python3\n"],
  ])("keeps a script %s as it is", async (_case, name, text) => {
    await file("bin/python3", "\x7fELF", 0o755);
    await file(name, text, 0o755);
    const { unpacked, remarks } = await packed();
    expect(await readFile(join(unpacked, name), "utf8")).toBe(text);
    expect(remarks).toEqual([]);
  });

  test.each([
    ["venv", (root: string) => `VIRTUAL_ENV="${root}"\nexport VIRTUAL_ENV\n`],
    [
      "venv of Python 3.12",
      (root: string) =>
        `if [ "\${OSTYPE:-}" = "cygwin" ] ; then\n    export VIRTUAL_ENV=$(cygpath "${root}")\nelse\n    export VIRTUAL_ENV="${root}"\nfi\n`,
    ],
    ["virtualenv", (root: string) => `VIRTUAL_ENV='${root}'\nexport VIRTUAL_ENV\n`],
    ["venv of Python 3.13", (root: string) => `export VIRTUAL_ENV=${root}\n`],
  ])("is activated where it is unpacked: %s", async (_maker, assignment) => {
    await file("bin/python3", "#!/bin/sh\necho own\n", 0o755);
    await file("bin/activate", `${assignment(folder)}PATH="$VIRTUAL_ENV/bin:$PATH"\nexport PATH\n`);
    const { unpacked } = await packed();
    await rm(folder, { recursive: true });
    await symlink(unpacked, join(base, "venv"));
    const said = (command: string, shell = "bash") =>
      execFileSync(shell, ["-c", command], { encoding: "utf8", cwd: base });

    expect(said("source venv/bin/activate && python3 train.py")).toBe("own\n");
    expect(said("cd /; . $OLDPWD/venv/bin/activate && python3 train.py; echo $VIRTUAL_ENV")).toBe(
      `own\n${base}/venv\n`,
    );
    expect(said(". venv/bin/activate && python3 train.py", "sh")).toBe("own\n");
    await symlink(unpacked, join(base, "env"));
    await rm(join(base, "venv"));
    expect(said(". env/bin/activate && python3 train.py")).toBe("own\n");
    if (!existsSync("/bin/dash")) return;
    expect(() => said(". env/bin/activate\necho the node's own", "dash")).toThrow(
      /activate: only bash can say where this environment lies/,
    );
    expect(said("(. env/bin/activate; echo went on) 2>&1; true", "dash")).not.toContain("went on");
  });

  test.each([
    [
      "/home/ada/src/mylib\n",
      /site-packages\/mylib\.pth refers to \/home\/ada\/src\/mylib of this machine.*without -e/,
    ],
    ["import __editable___mylib_finder; __editable___mylib_finder.install()\n", /mylib\.pth refers to sources of this/],
  ])("is remarked on where it needs sources of this machine", async (text, remark) => {
    await file("lib/python3.11/site-packages/mylib.pth", text);
    await file("lib/python3.11/site-packages/distutils-precedence.pth", "import os; var = 'SETUPTOOLS'\n");
    expect((await packed()).remarks).toEqual([expect.stringMatching(remark)]);
  });

  describe("is remarked on where its list of folders", () => {
    const list = "lib/python3.11/site-packages/mylib.pth";
    const told = async (text: string) => {
      await mkdir(join(base, "mylib"), { recursive: true });
      await file(list, text);
      return (await packingOfFolder(folder, "archive")).remarks;
    };
    const remark = () => [
      `${list} refers to ${base}/mylib of this machine, which is not sent with it: install it without -e, or send it separately`,
    ];

    test("leads out of it from its own folder, to what is there", async () => {
      expect(await told("# mine\n\n../../../../mylib\n")).toEqual(remark());
      expect(await told("../../../../mylib  \r\n")).toEqual(remark());
      expect(await told("../../../../gone\n")).toEqual([]);
      expect(await told("../../../lib\nvendored\n# /home/ada\n")).toEqual([]);
    });

    test("puts a folder on the path by a statement", async () => {
      expect(await told(`import sys; sys.path.insert(0, "${base}/mylib")\n`)).toEqual(remark());
      expect(await told(`import sys; sys.path.append('${base}/mylib')\n`)).toEqual(remark());
      expect(await told('import os; print("/home/ada")\n')).toEqual([]);
    });
  });

  test("is remarked on once for a package that its installer left where its sources are, whatever loads it", async () => {
    const packages = "lib/python3.11/site-packages";
    await mkdir(join(folder, packages, "mylib-1.0.dist-info"));
    const note = (editable: boolean) =>
      file(
        `${packages}/mylib-1.0.dist-info/direct_url.json`,
        `{"dir_info": {"editable": ${editable}}, "url": "file:///home/ada/my%20lib"}`,
      );
    const remarks = async () => (await packingOfFolder(folder, "archive")).remarks;
    const remark = expect.stringMatching(
      /mylib-1\.0\.dist-info\/direct_url\.json refers to \/home\/ada\/my lib of this/,
    );

    await note(false);
    expect(await remarks()).toEqual([]);
    await note(true);
    await file(`${packages}/mylib.pth`, "import _mylib_editable_loader\n");
    expect(await remarks()).toEqual([remark]);
    await file(`${packages}/mylib.pth`, "/home/ada/my lib/src\n");
    expect(await remarks()).toEqual([remark]);
    await file(`${packages}/other.pth`, "/home/ada/other\n");
    expect(await remarks()).toEqual([remark, expect.stringContaining("other.pth refers to /home/ada/other of this")]);
    const beside = async (...sent: string[]) => (await packingOfFolder(folder, "archive", sent)).remarks;
    expect(await beside("/home/ada/my lib/src/mylib", "/home/ada/other")).toEqual([]);
    expect(await beside("/home/ada/my library", "/home/ada/other")).toEqual([remark]);
    expect(await beside("/home/ada/my lib/train.py", "/home/ada/other")).toEqual([remark]);
    await file(`${packages}/mylib-1.0.dist-info/top_level.txt`, "lengths\n");
    expect(await beside("/home/ada/my lib/lengths.py", "/home/ada/other")).toEqual([]);
  });

  test("is remarked on where it takes packages from this machine's Python", async () => {
    await file("pyvenv.cfg", "home = /usr/bin\ninclude-system-site-packages = false\n");
    expect((await packingOfFolder(folder, "archive")).remarks).toEqual([]);
    await file("pyvenv.cfg", "home = /usr/bin\ninclude-system-site-packages=True\n");
    expect((await packingOfFolder(folder, "archive")).remarks).toEqual([
      "pyvenv.cfg has include-system-site-packages = true: packages of this machine's Python do not go along; " +
        "install those that the program needs into the environment, unless every node has them",
    ]);
  });
});

test("of a Python that its owner alone may read, it is remarked on for others", async () => {
  await mkdir(join(base, "python"), { mode: 0o700 });
  await file("pyvenv.cfg", `home = ${base}/python\n`);
  expect((await packingForOthers(folder, "archive")).remarks).toEqual([
    expect.stringMatching(/made from the Python in .*\/python, which other users may not read/),
  ]);
  expect((await packingOfFolder(folder, "archive")).remarks).toEqual([]);
  await chmod(join(base, "python"), 0o755);
  await chmod(base, 0o711);
  expect((await packingForOthers(folder, "archive")).remarks).toEqual([]);
  await file("pyvenv.cfg", "version = 3.11\n");
  expect((await packingForOthers(folder, "archive")).remarks).toEqual([]);
});

test("links leads back to itself are remarked on where YARN unpacks the folder", async () => {
  await symlink("..", join(folder, "lib/up"));
  const remark = /^lib\/up is a link to \.\., which leads back to itself/;
  expect((await packingOfFolder(folder, "archive")).remarks).toEqual([expect.stringMatching(remark)]);
  expect((await packingOfFolder(folder, "working-directory")).remarks).toEqual([]);
});

test("a folder that is no environment is sent as it is", async () => {
  await rm(join(folder, "pyvenv.cfg"));
  const script = `#!${folder}/bin/python3\n`;
  await file("bin/python3", "\x7fELF", 0o755);
  await file("bin/tool", script, 0o755);
  const { unpacked, remarks } = await packed();
  expect(await readFile(join(unpacked, "bin/tool"), "utf8")).toBe(script);
  expect(remarks).toEqual([]);
});
