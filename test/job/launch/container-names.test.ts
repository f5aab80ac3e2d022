import { describe, expect, test } from "@jest/globals";
import { ownerOf } from "../../../src/job/launch/container-names.ts";
import type { FileToShip } from "../../../src/job/spec.ts";
import { minimalJob, saidAbout } from "../support.ts";

describe("a name that containers have already", () => {
  const ours = ["node", "node-x86_64", "am.cjs", "executor.cjs", "executor.cjs.cache", "tokens.cjs", "koffi-x64.node"];
  const executors = [
    "next-executor.sh",
    "tony-page.html",
    "tony-tokens",
    ".tony-carrier",
    "src-dir",
    "src-dir.unpacked",
  ];
  const generations = ["tony-progress-1.jsonl", "tony-notice-12.json", "tony-hosts-2"];
  const yarns = ["container_tokens", ".container_tokens.crc", "launch_container.sh", "tmp", "sysfs"];

  test.each([...ours, ...executors, ...generations])("%s is tony-ts's", (name) => {
    expect(ownerOf(name)).toBe("tony-ts");
  });

  test.each([...yarns, "default_container_executor.sh", "default_container_executor_session.sh"])(
    "%s is YARN's",
    (name) => {
      expect(ownerOf(name)).toBe("YARN");
    },
  );

  test.each(["node.py", "nodes", "tony-progress.jsonl", "tony.json", "venv", "stdout", "train.py", ".tmp.crc"])(
    "%s is the job's",
    (name) => {
      expect(ownerOf(name)).toBeUndefined();
    },
  );
});

describe("files of a job", () => {
  const folder: FileToShip = { source: "src", name: "src-dir", as: "working-directory" };
  const venv: FileToShip = { source: "env.zip", name: "venv", as: "archive" };
  const lookUp = (path: string) => (/\/(src|tmp|node)$/.test(path) ? "directory" : "file") as "directory" | "file";
  const said = (values: Readonly<Record<string, string>>, names: readonly string[] = [], ship = [folder, venv]) =>
    saidAbout({ ...minimalJob, ...values }, { lookUp, ship, listSources: () => names });

  test.each(["tony.containers.resources", "tony.worker.resources", "tony.am.resources"])(
    "with such a name are refused where %s names them",
    (key) => {
      expect(said({ [key]: "train.py,s8/node,/etc/hostname::container_tokens" })).toEqual([
        `job.xml:3: ${key} puts /home/ada/s8/node at node, which tony-ts has in every container; rename it: SOURCE::NAME`,
        `job.xml:3: ${key} puts /etc/hostname at container_tokens, which YARN has in every container; rename it: SOURCE::NAME`,
      ]);
    },
  );

  test("with such a name are refused at the top of --src_dir; YARN's tmp takes more files", () => {
    expect(said({}, ["train.py", "node", "tmp"])).toEqual([
      "--src_dir: has node at the top of /home/ada/src, which tony-ts has in every container: rename it, leave it out by .tonyignore, " +
        "or send the folder by tony.containers.resources, which keeps its name",
    ]);
  });

  test("of --src_dir that a resource takes the place of are warned of, unless they are that resource", () => {
    expect(said({ "tony.containers.resources": "train.py,src/data.csv" }, ["train.py", "data.csv"])).toEqual([
      "job.xml:3: warning: tony.containers.resources puts /home/ada/train.py at train.py, in place of what --src_dir has there: rename one",
    ]);
    expect(said({ "tony.am.resources": "train.py" }, ["train.py"])).toEqual([]);
    expect(said({ "tony.containers.resources": "x::node" }, ["node"]).filter((line) => /in place/.test(line))).toEqual(
      [],
    );
    expect(said({}, ["venv"])).toEqual([
      "--python_venv: warning: puts /home/ada/env.zip at venv, in place of what --src_dir has there",
    ]);
  });

  test("are not brought back from such a folder", () => {
    const values = { "tony.output.local-dir": "node/out", "tony.output.dir": "hdfs:///out" };
    expect(said(values)).toEqual([
      "job.xml:3: tony.output.local-dir is node/out, and tony-ts has node in every container: name another folder",
    ]);
  });
});
