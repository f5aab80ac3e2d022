import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { beforeEach, describe, expect, it } from "@jest/globals";
import { unusableProgram } from "../../../executor/preparation/unusable-program.ts";
import type { FileToShip } from "../../../src/job/spec.ts";
import { elfHeader } from "../../support/elf-header.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const venv: FileToShip = { source: "hdfs://nn/envs/torch.zip", name: "venv", as: "archive" };
const source: FileToShip = { source: "/home/ada/src.zip", name: "src-dir", as: "working-directory" };

/** Root may look everywhere. */
function asUnprivileged<T>(look: () => T): T {
  if (process.geteuid?.() !== 0) return look();
  process.seteuid?.(65_534);
  try {
    return look();
  } finally {
    process.seteuid?.(0);
  }
}

describe("a program out of a shipped archive", () => {
  const workFolder = temporaryFolder();

  beforeEach(() => {
    mkdirSync(path.join(workFolder.path, "venv/bin"), { recursive: true });
  });

  function unpacked(file: string, content: string | Buffer, mode = 0o500): void {
    writeFileSync(path.join(workFolder.path, file), content);
    chmodSync(path.join(workFolder.path, file), mode);
  }

  const asked = (command: string, files = [venv]) =>
    unusableProgram({ command, searchPath: "/usr/bin:/bin", files, workFolder: workFolder.path });

  it("is refused when it is the text of a symbolic link, which bash would run as a script", () => {
    unpacked("venv/bin/python", "python3");
    expect(asked("venv/bin/python train.py")).toBe(
      "venv/bin/python is not a program but the text of a symbolic link to python3; " +
        "it came from hdfs://nn/envs/torch.zip: pack that as tar.gz, which keeps links and modes",
    );
  });

  it.each([
    "./venv/bin/python train.py",
    "cd /tmp && OMP_NUM_THREADS=1 exec venv/bin/python train.py",
    "mkdir -p out; venv/bin/python train.py | tee out/log",
    "(time nohup env A=1 B=2 ./venv/./bin/python train.py) &",
    "test -e done ||\nvenv/bin/python train.py",
  ])("is found wherever the command runs it: %s", (command) => {
    unpacked("venv/bin/python", "/usr/bin/python3.11");
    expect(asked(command)).toContain("a symbolic link to /usr/bin/python3.11;");
  });

  it("is refused when it is empty, or no interpreter that anything could run", () => {
    unpacked("venv/bin/python", "");
    expect(asked("venv/bin/python train.py")).toContain("venv/bin/python is empty;");
    unpacked("venv/bin/python3", "version https://git-lfs.github.com/spec/v1\n");
    expect(asked("venv/bin/python3 train.py")).toContain("is neither a program nor a script");
  });

  it.each(["source", "."])("is refused when %s activates an environment of another machine", (builtin) => {
    const command = `${builtin} venv/bin/activate && python3 train.py`;
    unpacked("venv/bin/activate", 'VIRTUAL_ENV="/home/ada/env"\nexport VIRTUAL_ENV\n', 0o400);
    expect(asked(command)).toBe(
      "venv/bin/activate is for the environment in /home/ada/env, which this node does not have; " +
        "it came from hdfs://nn/envs/torch.zip: run the python beside it, or send the environment's folder instead of an archive",
    );
    rmSync(path.join(workFolder.path, "venv/bin/activate"));
    unpacked("venv/bin/activate", `export VIRTUAL_ENV='${workFolder.path}'\n`, 0o400);
    expect(asked(command)).toBeUndefined();
    expect(asked(`${builtin} ./setup.sh; train`)).toBeUndefined();
  });

  it("is refused when it is not executable, not there, or a link to what its node does not have", () => {
    unpacked("venv/bin/tool", "#!/bin/sh\n", 0o600);
    chmodSync(path.join(workFolder.path, "venv/bin/tool"), 0o600);
    // The superuser may run whatever anybody may.
    expect(asked("venv/bin/tool")).toContain("venv/bin/tool is not executable;");
    expect(asked("venv/bin/python train.py")).toContain("venv/bin/python does not exist;");
    symlinkSync("/opt/builder/python3.11", path.join(workFolder.path, "venv/bin/python"));
    expect(asked("venv/bin/python train.py")).toContain("a symbolic link to /opt/builder/python3.11, which this node");
  });

  it("is named where it lies when the command has a folder too many or too few", () => {
    unpacked("venv/bin/python", "\x7fELF");
    expect(asked("venv/venv/bin/python train.py")).toBe(
      "venv/venv/bin/python does not exist; it came from hdfs://nn/envs/torch.zip: there it is venv/bin/python (--python_binary_path bin/python)",
    );
    mkdirSync(path.join(workFolder.path, "venv/torch/bin"), { recursive: true });
    unpacked("venv/torch/bin/python3", "\x7fELF");
    expect(asked("venv/bin/python3 train.py")).toMatch(
      /: there it is venv\/torch\/bin\/python3 \(--python_binary_path torch\/bin\/python3\)$/,
    );
  });

  it("is no matter of packing when nothing of its name is there", () => {
    expect(asked("venv/bin/python train.py")).toBe(
      "venv/bin/python does not exist; it came from hdfs://nn/envs/torch.zip: put it in there, or name what is there",
    );
  });

  it("may have been left out of --src_dir, and the mend says so", () => {
    expect(asked(". .venv/bin/activate && python3 train.py", [source])).toBe(
      ".venv/bin/activate does not exist; it came from /home/ada/src.zip: put it in there; where it is in there, it was left out " +
        "as that was sent: end its .tonyignore with !.venv, or send a Python environment with --python_venv",
    );
  });

  it("is advised to be packed whole where the archive is no zip", () => {
    unpacked("venv/bin/python", "");
    const tar = { ...venv, source: "/home/ada/venv.tar.gz" };
    expect(asked("venv/bin/python train.py", [tar])).toMatch(/venv\.tar\.gz: pack the file itself into that, with/);
  });

  it("is advised to be brought with its interpreter where a link ends at what the node does not have", () => {
    symlinkSync("python3", path.join(workFolder.path, "venv/bin/python"));
    symlinkSync("/opt/nothere/python3", path.join(workFolder.path, "venv/bin/python3"));
    expect(asked("venv/bin/python train.py")).toBe(
      "venv/bin/python is a symbolic link to /opt/nothere/python3, which this node does not have; it came from " +
        "hdfs://nn/envs/torch.zip: install that Python on every node, or make the environment with python3 -m venv --copies",
    );
    symlinkSync("/opt/nothere/tool", path.join(workFolder.path, "venv/bin/tool"));
    expect(asked("venv/bin/tool")).toMatch(/: pack the file itself into that, with what it needs, not a link/);
  });

  it("is refused when it is made for another architecture than the node's", () => {
    const other = process.arch === "arm64" ? "x64" : "arm64";
    unpacked("venv/bin/python", elfHeader(other));
    expect(asked("venv/bin/python train.py")).toBe(
      `venv/bin/python is made for ${other}, and this node is ${process.arch}; it came from hdfs://nn/envs/torch.zip: ` +
        "bring one that was made on a machine like the nodes, or ask for nodes like that one (tony.<role>.node-label)",
    );
    unpacked("venv/bin/tool", elfHeader(process.arch));
    expect(asked("venv/bin/tool train.py")).toBeUndefined();
  });

  it("may be a binary, a script that names its interpreter, or a shell's script", () => {
    unpacked("venv/bin/python", "\x7fELF\x02\x01\x01");
    unpacked("venv/bin/torchrun", "#!/usr/bin/env sh\n");
    unpacked("venv/bin/uv", "#!/usr/bin/env -S sh -e\n");
    unpacked("venv/bin/run", "exec python3 train.py");
    for (const name of ["python", "torchrun", "uv", "run"]) expect(asked(`venv/bin/${name} a b`)).toBeUndefined();
  });

  it("is refused when it is a script of the Python that its environment had where it was made", () => {
    unpacked("venv/bin/torchrun", "#!/home/ada/envs/torch/bin/python3\nimport torch\n");
    expect(asked("venv/bin/torchrun train.py")).toMatch(
      /^venv\/bin\/torchrun is a script for \/home\/ada\/envs\/torch\/bin\/python3, which this node .*: give it to an interpreter/,
    );
    unpacked("venv/bin/python3", "\x7fELF");
    expect(asked("venv/bin/torchrun train.py")).toMatch(
      /: run it by the python3 beside it, or send the environment's folder/,
    );
  });

  it("is refused when it is a PEX for a Python that the node does not have", () => {
    const pex: FileToShip = { source: "/home/ada/app.pex", name: "app.pex", as: "file" };
    unpacked("app.pex", "#!/usr/bin/env python3.99\nPK\x03\x04");
    expect(asked("./app.pex --epochs 3", [pex])).toBe(
      "app.pex is a script for python3.99, which this node does not have; it came from /home/ada/app.pex: " +
        "give it to an interpreter that the nodes have, or install python3.99 there",
    );
    expect(asked("python3 app.pex --epochs 3", [pex])).toBeUndefined();
    expect(asked(". env/bin/activate && ./app.pex", [pex])).toBeUndefined();
  });

  it("is refused when it is of a virtual environment whose Python the node does not have", () => {
    unpacked("venv/bin/python", "\x7fELF");
    unpacked("venv/pyvenv.cfg", "home = /opt/nothere/bin\nversion = 3.12.1\n", 0o600);
    expect(asked("venv/bin/python train.py")).toMatch(
      /made from the Python in \/opt\/nothere\/bin, which this node .*: install that Python on every node, or pack one that is whole/,
    );
    unpacked("venv/bin/ruff", "\x7fELF");
    expect(asked("venv/bin/ruff check")).toBeUndefined();
    rmSync(path.join(workFolder.path, "venv/pyvenv.cfg"));
    unpacked("venv/pyvenv.cfg", "home = /usr/bin\n", 0o600);
    expect(asked("venv/bin/python train.py")).toBeUndefined();
  });

  it("is told as that where the node's Python may be there, but is closed to the containers' user", () => {
    const closed = path.join(workFolder.path, "closed");
    mkdirSync(path.join(closed, "python/bin"), { recursive: true });
    unpacked("venv/bin/python", "\x7fELF", 0o555);
    unpacked("venv/pyvenv.cfg", `home = ${closed}/python/bin\n`, 0o444);
    unpacked("venv/bin/train", `#!${closed}/python/bin/python3\n`, 0o555);
    unpacked("venv/bin/activate", `VIRTUAL_ENV="${closed}/python"\n`, 0o444);
    for (const folder of [workFolder.path, path.join(workFolder.path, "venv"), path.join(workFolder.path, "venv/bin")])
      chmodSync(folder, 0o755);
    chmodSync(closed, 0);
    const words =
      "which the user of this node's containers may not read; it came from hdfs://nn/envs/torch.zip: let every";
    try {
      for (const command of ["venv/bin/python train.py", "venv/bin/train", ". venv/bin/activate && python3 train.py"])
        expect(asUnprivileged(() => asked(command))).toContain(words);
    } finally {
      chmodSync(closed, 0o700);
    }
  });

  it("is looked for in what --src_dir laid out, too", () => {
    mkdirSync(path.join(workFolder.path, "bin"));
    unpacked("bin/python", "python3");
    expect(asked("bin/python train.py", [source])).toContain("it came from /home/ada/src.zip");
    expect(asked("bin/python train.py")).toBeUndefined();
  });

  it("may be one long word: a link's target is shorter", () => {
    unpacked("venv/bin/run", "x".repeat(4096));
    expect(asked("venv/bin/run")).toBeUndefined();
    unpacked("venv/bin/walk", "x".repeat(4095));
    expect(asked("venv/bin/walk")).toContain("the text of a symbolic link");
  });

  it("is a fault where a folder stands in its place", () => {
    mkdirSync(path.join(workFolder.path, "venv/bin/python"));
    expect(asked("venv/bin/python train.py")).toContain("venv/bin/python is not a file;");
  });

  it("is told of the first that is at fault, in the order of the command", () => {
    unpacked("venv/bin/good", "#!/bin/sh\n");
    for (const name of ["one", "two"]) unpacked(`venv/bin/${name}`, "");
    expect(asked("venv/bin/good; venv/bin/two && venv/bin/one")).toMatch(/^venv\/bin\/two is empty/);
  });

  it("is not taken for what is only an argument", () => {
    unpacked("venv/version", "v1.2");
    expect(asked("python3 train.py venv/version")).toBeUndefined();
  });
});
