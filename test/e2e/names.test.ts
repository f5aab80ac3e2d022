import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, afterEach, describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { nameOf, onDisk } from "../../src/file-names.ts";
import { testCluster } from "../support/cluster.ts";
import { Person } from "../support/person.ts";
import { sweep } from "../support/sweep.ts";

const cluster = await testCluster();

/** Signs that a shell, a URL, HDFS or YARN's launch script treats specially, between plain letters. */
const sign = fc.constantFrom(..." '*?#;&|<>()[]{}~!@%^=+-_.éß日😀".split(/(?:)/u));
const letter = fc.constantFrom(..."abXY09".split(""));
const isName = (name: string) => name.trim() === name && !/^\.*$/.test(name);
/** What a resource may be called. */
const linkName = fc
  .array(fc.oneof(sign, letter), { minLength: 3, maxLength: 14 })
  .map((signs) => signs.join(""))
  .filter((name) => isName(name) && !name.endsWith("#archive"));
/** What a file of this machine may be called beyond that. */
const sourceSign = fc.oneof(
  sign,
  letter,
  fc.constantFrom(...'$`"\\:'.split("")),
  fc.constantFrom("$(id)", "\n", "%41"),
);
const nameOfSigns = (one: fc.Arbitrary<string>) =>
  fc
    .array(one, { minLength: 3, maxLength: 12 })
    .map((signs) => signs.join(""))
    .filter(isName);
const sourceName = nameOfSigns(sourceSign);
/** And one that a program writes: beyond UTF-8, too. */
const fileName = nameOfSigns(fc.oneof({ weight: 9, arbitrary: sourceSign }, fc.constantFrom("\udce9", "\udcff")));

const sample = (names: fc.Arbitrary<string>, count: number) => [...new Set(fc.sample(names, count))];

/** Reads what it was given, writes results and a checkpoint, fails once, and looks whether all of that came back. */
const program = `
import json, os, sys
told = json.load(open("told.json"))
wrong = [name for name, text in told["resources"].items() if open(name).read() != text]
wrong += [name for name, text in told["sources"].items() if open("src-names/" + name).read() != text]
if os.environ["VALUE"] != told["value"]: wrong.append("VALUE")
if wrong: sys.exit("WRONG " + json.dumps(wrong))
if "TONY_CHECKPOINT" in os.environ:
    checkpoint = os.environ["TONY_CHECKPOINT"]
    for name in told["files"]:
        if open(os.path.join(checkpoint, name), "rb").read() != os.fsencode(name): sys.exit("WRONG checkpoint " + json.dumps(name))
    print("all", len(told["files"]), "came back")
    sys.exit(0)
for name in told["files"]:
    for folder in [os.environ["TONY_OUTPUT_LOCAL_DIR"], os.environ["TONY_CHECKPOINT_LOCAL_DIR"] + "/step:5"]:
        os.makedirs(folder, exist_ok=True)
        open(os.path.join(folder, name), "wb").write(os.fsencode(name))
with open(os.environ["TONY_PROGRESS_FILE"], "a") as report:
    report.write(json.dumps({"step": 5, "checkpoint": "step:5"}) + "\\n")
sys.exit(1)
`;

describe("names with signs that a shell, HDFS, YARN or a URL treats specially", () => {
  const alice = new Person(cluster);
  afterEach(() => sweep(cluster));
  afterAll(() => alice.leave());

  test("work from end to end: of resources, sources, folders, results, checkpoints, and in values", async () => {
    const links = sample(linkName, 20);
    const files = sample(fileName, 30);
    const value = `x"y\`id\`\\z; & | < > {{HOME}} ${links[0] ?? ""}`.replaceAll("\n", " ").replaceAll(",", "");
    const resources = Object.fromEntries(links.map((link, index) => [link, `resource ${index}`]));
    const sources = Object.fromEntries(sample(sourceName, 10).map((name, index) => [name, `source ${index}`]));
    const job = alice.job(
      "names",
      {
        "tony.worker.instances": 1,
        "tony.worker.memory": "512m",
        "tony.worker.command": "python3 -c 'exec(open(\"program.py\").read())'",
        "tony.worker.envs": `VALUE=${value}`,
        "tony.am.retry-count": 1,
        "tony.containers.resources": [
          ...links.map((link, index) => `r${index}::${link}`),
          "program.py",
          "told.json",
        ].join(","),
        "tony.checkpoint.local-dir": "ckpt",
        "tony.application.checkpoint-dir": "names/ckpt dt=1 %41+é&x@$",
        "tony.output.local-dir": "results",
        "tony.output.dir": "names/out [1] dt=2,a;b #c?d",
      },
      {
        "program.py": program,
        "told.json": JSON.stringify({ resources, sources, files, value }),
        ...Object.fromEntries(links.map((link, index) => [`r${index}`, resources[link] ?? ""])),
      },
    );
    const folder = path.join(path.dirname(job), "src $(id):x");
    mkdirSync(path.join(folder, "src-names"), { recursive: true });
    for (const [name, text] of Object.entries(sources)) writeFileSync(path.join(folder, "src-names", name), text);
    const { exitCode, stdout } = await alice.run("submit", "--conf", job, "--src_dir", folder);
    expect(stdout).not.toContain("WRONG");
    expect(stdout).toContain(`all ${files.length} came back`);
    expect(exitCode).toBe(0);

    const id = /application_\d+_\d+/.exec(stdout)?.[0] ?? "";
    const all = [...files].sort();
    const fetched = (folder: string) =>
      readdirSync(path.join(alice.folder, folder), "buffer")
        .map((name) => nameOf(name))
        .filter((name) => nameOf(readFileSync(onDisk(path.join(alice.folder, folder, name)))) === name);
    const got = await alice.run("get", id);
    expect(got).toMatchObject({ exitCode: 0, stderr: "" });
    expect(got.stdout).toMatch(new RegExp(`^Fetched ${files.length} files, .* to ${id}$`, "m"));
    expect(fetched(`${id}/worker-0`).sort()).toEqual(all);
    await alice.run("get", id, "worker:0", "--to", "results");
    expect(fetched("results").sort()).toEqual(all);
    expect(await alice.run("get", id, "worker:0", "--to", "results")).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("--force"),
    });
    expect(await alice.json("get", id, "--checkpoint", "--to", "bert")).toMatchObject({ what: "checkpoint" });
    expect(fetched("bert/step:5").sort()).toEqual(all);
  });
});
