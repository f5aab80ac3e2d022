import { describe, expect, test } from "@jest/globals";
import { checkJob, readJob } from "../../../src/job/build/load-job.ts";
import { formatProblem } from "../../../src/job/problem.ts";
import { saidAbout } from "../support.ts";

const job = { "tony.worker.instances": "2", "tony.worker.command": "python3 train.py" };
/** `/home/ada` has these files, and the folder `src` with `train.py` in it alone. */
const present = ["/home/ada/train.py", "/home/ada/other.py", "/home/ada/src/train.py", "/home/ada/code.zip"];
const lookUp = (path: string) =>
  present.includes(path) ? "file" : ["/home/ada/src", "/home/ada/empty"].includes(path) ? "directory" : undefined;
const said = (values: Readonly<Record<string, string>>, srcDir = "") =>
  saidAbout(
    { ...job, ...values },
    { lookUp, ship: srcDir === "" ? [] : [{ source: srcDir, name: "src-dir", as: "working-directory" }] },
  );

describe("a program that lies beside the job's file", () => {
  test("and does not travel is warned of, where the command stands", () => {
    expect(said({})).toEqual([
      "job.xml:2: warning: tony.worker.command runs train.py, but /home/ada/train.py is not shipped with the job: ship it with tony.containers.resources, tony.worker.resources or --src_dir",
    ]);
    expect(said({ "tony.containers.resources": "other.py" })[0]).toContain("runs train.py");
    expect(said({}, "empty")[0]).toContain("runs train.py");
  });

  test("is warned of once, however many roles run it", () => {
    const shared = { "tony.ps.instances": "1", "tony.containers.command": "python3 train.py" };
    expect(saidAbout({ "tony.worker.instances": "2", ...shared }, { lookUp })).toHaveLength(1);
  });

  test.each<[string, Record<string, string>, string]>([
    ["for every task", { "tony.containers.resources": "train.py" }, ""],
    ["for its role", { "tony.worker.resources": "other.py::train.py" }, ""],
    ["in a folder", { "tony.worker.command": "python3 src/train.py", "tony.containers.resources": "src" }, ""],
    ["in the folder of --src_dir", {}, "src"],
    ["perhaps in an archive", {}, "code.zip"],
    ["perhaps on the cluster", {}, "hdfs:///code.zip"],
  ])("and travels %s is not", (_how, values, srcDir) => {
    expect(said(values, srcDir)).toEqual([]);
  });

  test("and travels by --src_dir under another path is: the content lies in the working directory itself", () => {
    expect(said({ "tony.worker.command": "python3 src/train.py" }, "src")).toEqual([
      "job.xml:2: warning: tony.worker.command runs src/train.py, which --src_dir brings as train.py: write train.py",
    ]);
  });

  test("is warned of once where -executes names the folder of --src_dir", () => {
    const options = { executes: "src/train.py", srcDir: "src", pythonBinaryPath: "python3" };
    const sources = { variables: { environment: {}, systemProperties: {} }, lookUp, readText: () => undefined };
    const text = readJob({ ...options, conf: ["tony.worker.instances=1"] }, sources);
    expect(checkJob(text, { workingDirectory: "/home/ada", lookUp }).problems.map(formatProblem)).toEqual([
      "-executes: warning: is looked for inside --src_dir: write train.py, unless src has a folder src of its own",
    ]);
  });

  test("and is nowhere is warned of, with the shipped one that its name is near to", () => {
    const misspelt = { "tony.worker.command": "python3 trian.py" };
    expect(said({ ...misspelt, "tony.worker.resources": "train.py" })).toEqual([
      "job.xml:2: warning: tony.worker.command runs trian.py, which the job does not ship: did you mean train.py?",
    ]);
    expect(said(misspelt, "src")).toEqual([
      "job.xml:2: warning: tony.worker.command runs trian.py, which the job does not ship: check its name, or ship it with tony.containers.resources, tony.worker.resources or --src_dir",
    ]);
    const inFolder = { "tony.worker.command": "python3 scripts/train.py" };
    for (const shipped of [said({ ...inFolder, "tony.worker.resources": "train.py" }), said(inFolder, "src")]) {
      expect(shipped[0]).toMatch(/runs scripts\/train\.py, which the job does not ship: did you mean train\.py\?$/);
    }
    expect(said({ "tony.worker.command": "./missing" })[0]).toContain("runs missing, which the job does not ship");
  });

  test.each([
    [
      "torchrun --nproc_per_node 2 trian.py --lr 1",
      "runs trian.py, which the job does not ship: did you mean train.py?",
    ],
    ["accelerate launch --num_processes=2 trian.py", "did you mean train.py?"],
    ["python3 src/mian.py", "runs src/mian.py, which the job does not ship"],
  ])("and is nowhere is warned of in %j, too", (command, warning) => {
    const warnings = said({ "tony.worker.command": command, "tony.worker.resources": "train.py,src" });
    expect(warnings.join("\n")).toContain(warning);
  });

  test.each([
    "torchrun --nproc_per_node 2 train.py",
    "torchrun -m train",
    "deepspeed --hostfile x src/train.py",
    "python3 src",
  ])("and travels is not warned of in %j", (command) => {
    expect(said({ "tony.worker.command": command, "tony.worker.resources": "train.py,src" })).toEqual([]);
  });

  test.each(["python3 /opt/job/train.py", "python3 -m train", "train", "cd src && python3 train.py"])(
    "%s is not: the nodes may have it",
    (command) => expect(said({ "tony.worker.command": command })).toEqual([]),
  );
});

describe("what is near to a name that the job ships", () => {
  const folders: Readonly<Record<string, readonly string[]>> = {
    "/home/ada/src": ["train.py", "models", "data", "config.yaml"],
    "/home/ada/src/models": ["resnet.py", "large"],
    "/home/ada/data": [],
  };
  const listed = (command: string, files = "") =>
    saidAbout(
      {
        "tony.worker.instances": "1",
        "tony.worker.command": command,
        ...(files && { "tony.worker.resources": files }),
      },
      {
        lookUp: (path) => (path in folders ? "directory" : /\.\w+$/.test(path) ? "file" : undefined),
        listSources: (folder) => folders[folder] ?? [],
        ship: files === "" ? [{ source: "src", name: "src-dir", as: "working-directory" }] : [],
      },
    );
  const said = (words: string) => [`job.xml:2: warning: tony.worker.command ${words}`];

  test.each([
    ["python3 -m trian", "", "runs module trian, which the job does not ship: did you mean train?"],
    ["bash -c 'python3 -m trian --lr 1'", "", "runs module trian, which the job does not ship: did you mean train?"],
    ["python3 -m trian", "train.py", "runs module trian, which the job does not ship: did you mean train?"],
    [
      "python3 -m modles.resnet",
      "",
      "runs module modles.resnet, which the job does not ship: did you mean models.resnet?",
    ],
    [
      "python3 -m models.resent",
      "",
      "runs module models.resent, which the job does not ship: did you mean models.resnet?",
    ],
    ["python3 train.py --data dta/a.csv", "", "names dta/a.csv, which the job does not ship: did you mean data/a.csv?"],
    ["python3 train.py --data dat/", "", "names dat, which the job does not ship: did you mean data?"],
    ["python3 -m train --data=dat/", "train.py,data", "names dat, which the job does not ship: did you mean data?"],
  ])("is asked for: %j", (command, files, words) => {
    expect(listed(command, files)).toEqual(said(words));
  });

  test("is asked for where a script's name is misspelt that --src_dir has", () => {
    expect(
      saidAbout(
        { "tony.worker.instances": "1", "tony.worker.command": "bash -c 'python3 trian.py'" },
        {
          lookUp: (path) => (path in folders ? "directory" : undefined),
          listSources: (folder) => folders[folder] ?? [],
          ship: [{ source: "src", name: "src-dir", as: "working-directory" }],
        },
      ),
    ).toEqual(said("runs trian.py, which the job does not ship: did you mean train.py?"));
  });

  test.each([
    "python3 -m train",
    "python3 -m models.resnet",
    "python3 -m models.large.any",
    "python3 -m torch.distributed.run train.py",
    "python3 -m model.resnet",
    "python3 -m pip list",
    "python3 train.py --data data/",
    "python3 train.py --data-dir datasets/ --config configs/a.yaml",
    "python3 train.py --out dta/",
    "python3 train.py --lr 0.1 --name tarin",
    "mkdir dta; python3 train.py --data dta/",
    "python3 train.py --data dta/ && ls dta/",
  ])("is not where a name may mean something else: %j", (command) => {
    expect(listed(command)).toEqual([]);
  });
});
