import { describe, expect, test } from "@jest/globals";
import { expandSettings, readSetting } from "../../src/job/build/read-settings.ts";
import { formatProblem } from "../../src/job/problem.ts";
import { hadoopSettings, mergeSettings, type Setting, settingsOf, underLaterNames } from "../../src/job/settings.ts";
import { jobSettings, optionSetting, siteSetting } from "./support.ts";

const key = "tony.worker.memory";

describe("laying settings over each other", () => {
  test("the site's file goes over the job's, the command line over both, and what was replaced is kept", () => {
    const { settings } = mergeSettings([
      ...jobSettings({ [key]: "1g" }),
      siteSetting(key, "2g"),
      optionSetting(key, "3g"),
    ]);
    expect(settings.get(key)).toMatchObject({ value: "3g", at: "-conf" });
    expect(settings.get(key)?.overrides.map(({ value, at }) => `${value} ${at}`)).toEqual([
      "2g tony-site.xml:1",
      "1g job.xml:1",
    ]);
  });

  test("a final key of the site stays, and who is overruled is told", () => {
    const { settings, problems } = mergeSettings([
      ...jobSettings({ [key]: "1g" }),
      siteSetting(key, "2g", true),
      optionSetting(key, "3g"),
    ]);
    expect(settings.get(key)?.value).toBe("2g");
    expect(problems.map(formatProblem)).toEqual([
      "-conf: warning: tony.worker.memory = 3g has no effect: tony-site.xml:1 declares it final, 2g",
      "job.xml:1: warning: tony.worker.memory = 1g has no effect: tony-site.xml:1 declares it final, 2g",
    ]);
  });

  test("whose job's file says otherwise than the site's is told", () => {
    const { settings, problems } = mergeSettings([
      ...jobSettings({
        "tony.worker.memory": "1g",
        "tony.worker.vcores": "1",
        "tony.worker.gpus": "1",
        "tony.yarn.queue": "a",
      }),
      siteSetting("tony.worker.memory", "2g"),
      siteSetting("tony.worker.vcores", "2", true),
      siteSetting("tony.worker.gpus", "1"),
      siteSetting("tony.yarn.queue", "b"),
      optionSetting("tony.yarn.queue", "c"),
    ]);
    expect(settings.get("tony.worker.memory")?.value).toBe("2g");
    expect(problems.map(formatProblem)).toEqual([
      "job.xml:1: warning: tony.worker.memory = 1g has no effect: tony-site.xml:1 sets 2g, and only the command line overrides it",
      "job.xml:2: warning: tony.worker.vcores = 1 has no effect: tony-site.xml:1 declares it final, 2",
    ]);
  });

  test("a final key of the job's own file keeps nobody away", () => {
    const [own] = jobSettings({ [key]: "64g" });
    const { settings } = mergeSettings([
      { ...own, key, value: "64g", layer: "job", at: "", final: true },
      siteSetting(key, "2g"),
    ]);
    expect(settings.get(key)?.value).toBe("2g");
  });

  test("what a file sets more than once is said, with the line that wins", () => {
    const line = (number: number, file = "job.xml"): Setting => ({
      ...siteSetting(key, `${number}g`),
      layer: "job",
      at: `${file}:${number}`,
      file,
    });
    const { settings, problems } = mergeSettings([line(3), line(5), line(9), optionSetting(key, "4g")]);
    expect(settings.get(key)?.value).toBe("4g");
    expect(problems.map(formatProblem)).toEqual([
      "job.xml:9: warning: tony.worker.memory is set more than once: this line wins, job.xml:3 and job.xml:5 have no effect",
    ]);
    expect(mergeSettings([line(3, "included.xml"), line(5)]).problems).toEqual([]);
  });

  test("the command line adds to multi-valued keys, again and again; files replace them", () => {
    const envs = "tony.execution.envs";
    const { settings } = mergeSettings([
      ...jobSettings({ [envs]: "A=1" }),
      siteSetting(envs, "B=2"),
      optionSetting(envs, "C=3"),
      optionSetting(envs, "D=4"),
    ]);
    expect(settings.get(envs)?.value).toBe("B=2,C=3,D=4");
  });

  test("keys of other prefixes are Hadoop's", () => {
    const { settings } = mergeSettings(jobSettings({ [key]: "1g", "fs.defaultFS": "hdfs://nn:8020" }));
    expect(hadoopSettings(settings)).toEqual({ "fs.defaultFS": "hdfs://nn:8020" });
  });

  test("an empty element of a file sets nothing", () => {
    const property = { name: key, final: false, file: "job.xml", line: 3 };
    expect(settingsOf([{ ...property, value: undefined }], "job")).toEqual([]);
    expect(settingsOf([{ ...property, value: " 2g\n" }], "job")).toMatchObject([{ value: "2g", at: "job.xml:3" }]);
  });
});

describe("an access list", () => {
  const given = (value: string) =>
    settingsOf([{ name: "tony.application.acl.view", value, final: false, file: "job.xml", line: 3 }], "job")[0]?.value;

  test.each([
    [" ml", " ml"],
    ["  ml,ops ", " ml,ops"],
    ["ada ml", "ada ml"],
    [" * ", " *"],
    ["\n      ada ml\n    ", "ada ml"],
  ])("of a file: %p keeps the blank that says that it names groups alone", (written, kept) => {
    expect(given(written)).toBe(kept);
  });
});

describe("reading a value", () => {
  test("gives the default where nothing is set and where the text is wrong", () => {
    const { settings } = mergeSettings(jobSettings({ "tony.ps.memory": "much" }));
    expect(readSetting(settings, "tony.{role}.memory", { role: "worker" })).toBe(2048);
    expect(readSetting(settings, "tony.{role}.memory", { role: "ps" })).toBe(2048);
    expect(readSetting(settings, "tony.application.node-label")).toBeUndefined();
  });

  test("a wait that is turned off stays off although its default is on", () => {
    const { settings } = mergeSettings(jobSettings({ "tony.container.registration.timeout": "-1" }));
    expect(readSetting(settings, "tony.container.registration.timeout")).toBeUndefined();
    expect(readSetting(new Map(), "tony.container.registration.timeout")).toBe(900_000);
  });
});

test("expanding variables reads other settings, the user and the environment, and leaves the shell its own", () => {
  const { settings } = mergeSettings(
    jobSettings({
      "data.root": "/data/${user.name}",
      "tony.worker.command": "python3 train.py --in ${data.root} --home ${env.HOME} --index ${TASK_INDEX}",
    }),
  );
  const variables = { environment: { HOME: "/home/ada" }, systemProperties: { "user.name": "ada" } };
  expect(expandSettings(settings, variables).get("tony.worker.command")?.value).toBe(
    "python3 train.py --in /data/ada --home /home/ada --index ${TASK_INDEX}",
  );
});

describe("a key of an earlier release of TonY's", () => {
  const read = (settings: Parameters<typeof underLaterNames>[0]) => {
    const { settings: named, problems } = underLaterNames(settings);
    return { named: named.map(({ key, value, at }) => `${at} ${key}=${value}`), said: problems.map(formatProblem) };
  };

  test("is read under the name that it got later", () => {
    expect(read(jobSettings({ "tony.application.docker.enabled": "true" }))).toEqual({
      named: ["job.xml:1 tony.docker.enabled=true"],
      said: [
        "job.xml:1: warning: tony.application.docker.enabled is an older name of tony.docker.enabled, and is read as that",
      ],
    });
  });

  test("has no effect beside that", () => {
    const both = { "tony.task.heartbeat-interval": "500", "tony.task.heartbeat-interval-ms": "2000" };
    expect(read(jobSettings(both))).toEqual({
      named: ["job.xml:2 tony.task.heartbeat-interval-ms=2000"],
      said: [
        "job.xml:1: warning: tony.task.heartbeat-interval has no effect: it is an older name of tony.task.heartbeat-interval-ms, which is set",
      ],
    });
  });

  test("in a site's file warns nobody, and a job goes under it", () => {
    const { named, said } = read([
      ...jobSettings({ "tony.docker.enabled": "true" }),
      siteSetting("tony.application.docker.enabled", "false"),
    ]);
    expect(named).toEqual(["job.xml:1 tony.docker.enabled=true", "tony-site.xml:1 tony.docker.enabled=false"]);
    expect(said).toEqual([]);
  });
});
