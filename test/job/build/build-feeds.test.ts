import { describe, expect, test } from "@jest/globals";
import { check, minimalJob, saidAbout } from "../support.ts";

const input = { "tony.feed.train.input": "/data/*.txt,hdfs://nn/more" };
const said = (values: Readonly<Record<string, string>>) => saidAbout({ ...minimalJob, ...values });
/** The first line behind the smallest job. */
const line = Object.keys(minimalJob).length + 1;

describe("the feeds of a job", () => {
  test("are those that have an input, in the order of their names", () => {
    const { spec, problems } = check({
      ...minimalJob,
      "tony.feed.train.input": "/data/*.txt,hdfs://nn/more",
      "tony.feed.train.epochs": "0",
      "tony.feed.train.shuffle": "7",
      "tony.feed.train.uneven": "pad",
      "tony.feed.train.roles": "worker",
      "tony.feed.images.input": "viewfs:///images",
      "tony.feed.images.format": "fixed",
      "tony.feed.images.record-size": "3072",
      "tony.feed.images.split-size": "1m",
      "tony.feed.images.timeout": "30s",
      "tony.feed.images.locality": "false",
      "tony.feed.images.output": "hdfs://nn/labels",
    });
    expect(problems).toEqual([]);
    const limits = { window: 2, maxAttempts: 3 };
    expect(spec?.feeds).toEqual([
      {
        name: "images",
        input: ["viewfs:///images"],
        cut: { format: "fixed", splitBytes: 1 << 20, recordBytes: 3072 },
        output: "hdfs://nn/labels",
        epochs: 1,
        leaseMs: 30_000,
        locality: false,
        ...limits,
      },
      {
        name: "train",
        input: ["/data/*.txt", "hdfs://nn/more"],
        cut: { format: "lines", splitBytes: 64 << 20 },
        seed: 7,
        leaseMs: 600_000,
        uneven: "pad",
        roles: ["worker"],
        ...limits,
      },
    ]);
  });

  test("begin their epochs one after the other, one beside the last of the one before, or without limit", () => {
    const boundaryOf = (values: Readonly<Record<string, string>>) => {
      const { spec, problems } = check({ ...minimalJob, ...input, ...values });
      return [problems, spec?.feeds?.map(({ epochs, boundary }) => ({ epochs, boundary }))];
    };
    const boundary = "tony.feed.train.boundary";
    expect(boundaryOf({ [boundary]: "barrier", "tony.feed.train.epochs": "3" })).toEqual([[], [{ epochs: 3 }]]);
    const overlap = { epochs: 3, boundary: "overlap" };
    expect(boundaryOf({ [boundary]: "overlap", "tony.feed.train.epochs": "3" })).toEqual([[], [overlap]]);
    expect(boundaryOf({ [boundary]: "infinite" })).toEqual([[], [{ boundary: "infinite" }]]);
  });

  test("grow where they are looked up again, until a file says that no more comes", () => {
    const growing = {
      "tony.feed.train.relist": "30s",
      "tony.feed.train.until": "/data/done",
      "tony.feed.train.output": "/out",
    };
    const { spec, problems } = check({ ...minimalJob, ...input, ...growing });
    expect(problems).toEqual([]);
    expect(spec?.feeds).toMatchObject([{ relistMs: 30_000, until: "/data/done", epochs: 1 }]);
  });

  test("have roles of one stage", () => {
    const job = { ...minimalJob, ...input, "tony.ps.instances": "1", "tony.ps.command": "true" };
    const roles = { "tony.feed.train.roles": "worker,ps" };
    expect(check({ ...job, ...roles }).problems).toEqual([]);
    expect(saidAbout({ ...job, ...roles, "tony.ps.depends-on": "worker" }).join()).toContain(
      "tony.feed.train.roles names worker and ps, which belong to two stages: define a feed for each, with the same input",
    );
  });

  test("are none where no key names one", () => {
    expect(check(minimalJob).spec).not.toHaveProperty("feeds");
  });

  test.each<[what: string, values: Readonly<Record<string, string>>, problem: string]>([
    [
      "no input",
      { "tony.feed.train.epochs": "2" },
      "tony.feed.train.epochs needs tony.feed.train.input: what the feed train reads",
    ],
    [
      "a name that is misspelt",
      { ...input, "tony.feed.trian.epochs": "2" },
      "tony.feed.trian.epochs needs tony.feed.trian.input: what the feed trian reads; did you mean feed train?",
    ],
    [
      "an input that is no place",
      { "tony.feed.train.input": "data/*.txt" },
      "tony.feed.train.input names data/*.txt: write an absolute path or a URL of hdfs, viewfs or file",
    ],
    [
      "a file system that is not known",
      { "tony.feed.train.input": "s3://bucket/a" },
      "tony.feed.train.input names s3://bucket/a: write an absolute path or a URL of hdfs, viewfs or file",
    ],
    [
      "no size of rows",
      { ...input, "tony.feed.train.format": "fixed" },
      "tony.feed.train.format = fixed needs tony.feed.train.record-size: how many bytes a row has",
    ],
    [
      "a size of rows without a use",
      { ...input, "tony.feed.train.record-size": "8" },
      "warning: tony.feed.train.record-size has no effect: only the format fixed uses it",
    ],
    [
      "results of several epochs",
      { ...input, "tony.feed.train.output": "/out", "tony.feed.train.epochs": "2" },
      "tony.feed.train.output needs tony.feed.train.epochs = 1: a split has one file of results",
    ],
    [
      "results at no place",
      { ...input, "tony.feed.train.output": "out" },
      "tony.feed.train.output names out: write an absolute path or a URL of hdfs, viewfs or file",
    ],
    [
      "an end for all in the middle",
      { ...input, "tony.feed.train.uneven": "stop-together", "tony.feed.train.epochs": "2" },
      "tony.feed.train.uneven = stop-together ends with the first epoch: leave tony.feed.train.epochs out, or take drop or pad",
    ],
    [
      "results of equal steps",
      { ...input, "tony.feed.train.uneven": "pad", "tony.feed.train.output": "/out" },
      "tony.feed.train.uneven cannot be combined with tony.feed.train.output: leave one of them out",
    ],
    [
      "an end of what has none",
      { ...input, "tony.feed.train.boundary": "infinite", "tony.feed.train.epochs": "2" },
      "tony.feed.train.boundary = infinite has no end: leave tony.feed.train.epochs out, or take overlap",
    ],
    [
      "results without end",
      { ...input, "tony.feed.train.boundary": "infinite", "tony.feed.train.output": "/out" },
      "tony.feed.train.boundary = infinite cannot be combined with tony.feed.train.output, whose splits are read once: leave one of them out",
    ],
    [
      "equal steps in epochs that overlap",
      {
        ...{ ...input, "tony.feed.train.boundary": "overlap", "tony.feed.train.epochs": "2" },
        "tony.feed.train.uneven": "drop",
      },
      "tony.feed.train.boundary = overlap cannot be combined with tony.feed.train.uneven, which counts the steps of each epoch: leave one of them out",
    ],
    [
      "an epoch that overlaps with none",
      { ...input, "tony.feed.train.boundary": "overlap" },
      "warning: tony.feed.train.boundary = overlap has no effect: tony.feed.train.epochs is 1",
    ],
    [
      "an end of what does not grow",
      { ...input, "tony.feed.train.until": "/data/done" },
      "tony.feed.train.until needs tony.feed.train.relist: how often new files are looked for",
    ],
    [
      "an end at no place",
      { ...input, "tony.feed.train.relist": "30s", "tony.feed.train.until": "done" },
      "tony.feed.train.until names done: write an absolute path or a URL of hdfs, viewfs or file",
    ],
    [
      "several epochs of what grows",
      { ...input, "tony.feed.train.relist": "30s", "tony.feed.train.epochs": "0" },
      "tony.feed.train.relist needs tony.feed.train.epochs = 1: what grows is read once",
    ],
    [
      "equal steps of what grows",
      { ...input, "tony.feed.train.relist": "30s", "tony.feed.train.uneven": "pad" },
      "tony.feed.train.relist cannot be combined with tony.feed.train.uneven: leave one of them out",
    ],
    [
      "results of what has no end",
      { ...input, "tony.feed.train.relist": "30s", "tony.feed.train.output": "/out" },
      "tony.feed.train.relist needs tony.feed.train.until: results are complete only when no more files arrive",
    ],
    [
      "roles that the job does not have",
      { ...input, "tony.feed.train.roles": "worker,wokrer" },
      "tony.feed.train.roles names wokrer, which is not a role of the job; did you mean worker?",
    ],
    [
      "a role that is like none of the job",
      { ...input, "tony.feed.train.roles": "reader" },
      "tony.feed.train.roles names reader, which is not a role of the job; it has worker",
    ],
    [
      "a key that is misspelt",
      { ...input, "tony.feed.train.shufle": "7" },
      "tony.feed.train.shufle is not a key; did you mean tony.feed.train.shuffle?",
    ],
    [
      "an unknown format",
      { ...input, "tony.feed.train.format": "csv" },
      'tony.feed.train.format must be one of lines, fixed, file, tfrecord, avro, parquet, bytes, not "csv"',
    ],
  ])("of %s are told", (_what, values, problem) => {
    expect(said(values).map((one) => one.replace(/^\S+:\d+: /, ""))).toEqual([problem]);
    expect(said(values)[0]).toMatch(new RegExp(`:(${line}|${line + 1}|${line + 2}|${line + 3}): `));
  });
});
