import { describe, expect, test } from "@jest/globals";
import { parseResourceString } from "../../../src/job/build/resource-strings.ts";
import { minimalJob, saidAbout, specOf } from "../support.ts";

const tree: Readonly<Record<string, "file" | "directory">> = {
  "/jobs/train.py": "file",
  "/jobs/odd $(id):x.py": "file",
  "/jobs/data": "directory",
  "/home/ada/train.py": "file",
  "/home/ada/other.py": "file",
};
const paths = { folders: ["/jobs", "/home/ada"], lookUp: (path: string) => tree[path] };

describe("SOURCE[::NAME][#archive]", () => {
  test.each([
    ["train.py", { source: "/jobs/train.py", name: "train.py", as: "file" }],
    ["./train.py::main.py", { source: "/jobs/train.py", name: "main.py", as: "file" }],
    ["other.py", { source: "/home/ada/other.py", name: "other.py", as: "file" }],
    ["data/", { source: "/jobs/data", name: "data", as: "archive" }],
    ["hdfs://nn/env.zip#archive", { source: "hdfs://nn/env.zip", name: "env.zip", as: "archive" }],
    ["hdfs:///env.zip::env#archive", { source: "hdfs:///env.zip", name: "env", as: "archive" }],
    [
      "odd $(id):x.py::odd's * & ; # {{x}}.py",
      { source: "/jobs/odd $(id):x.py", name: "odd's * & ; # {{x}}.py", as: "file" },
    ],
    ["viewfs:/data/x.csv", { source: "viewfs:/data/x.csv", name: "x.csv", as: "file" }],
  ])("%s", (text, resource) => {
    expect(parseResourceString(text, paths)).toEqual(resource);
  });

  test.each([
    ["a::b::c", "is not SOURCE[::NAME][#archive]"],
    ["::name", "is not SOURCE[::NAME][#archive]"],
    ["train.py::", "is not SOURCE[::NAME][#archive]"],
    ["train.py::a/b", "needs a plain name"],
    ["hdfs://nn/x::..", "needs a plain name"],
    ["T$(id).bin", 'cannot take "$" in the name of a resource; give it another name: SOURCE::NAME'],
    ["train.py::w$v1.bin", 'cannot take "$"'],
    ['train.py::a"b`c.bin', 'cannot take "\\"", "`"'],
    ["train.py::x:y.csv", 'cannot take ":"'],
    ["train.py::back\\slash", 'cannot take "\\\\"'],
    ["train.py::new\nline", 'cannot take "\\n"'],
    ["hdfs://nn/T$(id).bin::t.bin", 'cannot take "$" in the name of a resource; rename the file there'],
    ["missing.py", "/jobs/missing.py or /home/ada/missing.py does not exist"],
    ["hdsf://nn/model.bin", "hdsf://nn/model.bin has no scheme that Hadoop knows; did you mean hdfs:"],
    ["gs://bucket/env.txt#archive", "gs://bucket/env.txt is to be unpacked, but YARN unpacks only"],
    [
      "other.py::code#archive",
      "/home/ada/other.py is to be unpacked, but YARN unpacks only .zip, .tar, .tar.gz, .tgz, .jar",
    ],
    ["hdfs://nn/env.txt#archive", "hdfs://nn/env.txt is to be unpacked, but YARN unpacks only"],
  ])("%s is refused", (text, message) => {
    expect(() => parseResourceString(text, paths)).toThrow(message);
  });
});

describe("files of a job", () => {
  const lookUp = paths.lookUp;

  test("the job's, the role's and the ApplicationMaster's are kept apart", () => {
    const spec = specOf(
      {
        "tony.containers.resources": "other.py",
        "tony.worker.resources": "hdfs://nn/vocab.txt",
        "tony.am.resources": "hdfs://nn/am.sh",
      },
      { lookUp },
    );
    expect(spec.files.map(({ name }) => name)).toEqual(["other.py"]);
    expect(spec.roles[0]?.files.map(({ name }) => name)).toEqual(["vocab.txt"]);
    expect(spec.am.files.map(({ name }) => name)).toEqual(["am.sh"]);
  });

  test("what options ship lies beside them", () => {
    const ship = [{ source: "/jobs/data", name: "venv", as: "archive" as const }];
    expect(specOf({}, { lookUp, ship }).files).toEqual([{ source: "/jobs/data", name: "venv", as: "archive" }]);
    const missing = [{ source: "gone", name: "src-dir", as: "working-directory" as const }];
    expect(saidAbout(minimalJob, { lookUp, ship: missing })).toEqual(["--src_dir: /home/ada/gone does not exist"]);
  });

  test("what options ship is checked as what keys name is", () => {
    const said = (source: string) =>
      saidAbout(minimalJob, { lookUp, ship: [{ source, name: "venv", as: "archive" as const }] });
    expect(said("vewfs://repo/env.tar.gz")).toEqual([
      expect.stringContaining("--python_venv: vewfs://repo/env.tar.gz has no scheme that Hadoop knows"),
    ]);
    expect(said("other.py")).toEqual([
      expect.stringContaining("--python_venv: /home/ada/other.py is to be unpacked, but YARN unpacks only"),
    ]);
    expect(said("/jobs/data")).toEqual([]);
  });

  test("what is named twice is there once, of a role what all have is not there again", () => {
    const spec = specOf(
      {
        ...minimalJob,
        "tony.containers.resources": "other.py, other.py::other.py",
        "tony.worker.resources": "other.py, other.py::mine.py",
      },
      { lookUp },
    );
    expect(spec.files.map(({ name }) => name)).toEqual(["other.py"]);
    expect(spec.roles[0]?.files.map(({ name }) => name)).toEqual(["mine.py"]);
  });

  test("one thing as it is and unpacked is an error where both have one name", () => {
    expect(
      saidAbout(
        { ...minimalJob, "tony.containers.resources": "hdfs://nn/a.zip, hdfs://nn/a.zip::a.zip#archive" },
        { lookUp },
      ),
    ).toEqual([
      "job.xml:3: tony.containers.resources puts hdfs://nn/a.zip at a.zip as it is and unpacked; rename one: SOURCE::NAME",
    ]);
  });

  test("what cannot be found or would lie on each other is an error", () => {
    expect(saidAbout({ ...minimalJob, "tony.containers.resources": "nothing.py" }, { lookUp })).toEqual([
      "job.xml:3: tony.containers.resources names what cannot be used: /home/ada/nothing.py does not exist",
    ]);
    expect(
      saidAbout(
        { ...minimalJob, "tony.containers.resources": "other.py", "tony.worker.resources": "hdfs://nn/x::other.py" },
        { lookUp },
      ),
    ).toEqual([
      "job.xml:4: tony.worker.resources puts two things at other.py: /home/ada/other.py and hdfs://nn/x; rename one: SOURCE::NAME",
    ]);
  });
});
