import { describe, expect, test } from "@jest/globals";
import { type KeyName, keyFor, keys } from "../../src/job/keys.ts";
import { minimalJob, saidAbout } from "./support.ts";

/** For each kind of value one that it is not, and what is said then; every key of that kind is asked with it. */
const refused: Readonly<Record<string, readonly [text: string, said: RegExp]>> = {
  path: ["", /a path or URL/],
  "absolute path": ["shared/a", /an absolute path such as \/shared\/folder/],
  label: ["gpu && big", /a node label \(letters, digits/],
  memory: ["1.5g", /a whole amount such as 2g or 512m/],
  number: [
    "many",
    /a whole number (of at least \d+ \(at most 2147483647\)|between \d+ and \d+)|a number such as 0\.95/,
  ],
  "number, -1: no limit": ["none", /a whole number up to 2147483647, or -1 for no limit/],
  "true | false": ["yes", /true or false/],
  "duration (ms)": ["soon", /a duration( of at least [\d.]+s)? such as 90s, 5m or 2h \(a bare number is ms\)/],
  "duration (s)": ["soon", /a duration( of at least 1s)? such as 90s, 5m or 2h \(a bare number is s\)/],
  "duration (ms), 0: none": ["soon", /a duration such as 90s, 5m or 2h \(a bare number is ms; 0 or -1: none\)/],
  "duration (s), 0: none": ["soon", /a duration such as 90s, 5m or 2h \(a bare number is s; 0 or -1: none\)/],
  "port range": ["20100-20000", /a range of ports such as 20000-20100/],
  "list of tags": ["é", /at most 10 tags, each of at most 100 letters/],
  "list of names": ["rpc,rpc", /names such as rpc,metrics, each once/],
  "NAME=value list": ["a b=1", /NAME=value pairs/],
  "users groups": ["ada bob carol", /users, a space and groups/],
  "list of URL SIZE TIME": ["gs://b/x", /URL SIZE TIME, such as gs:\/\/bucket/],
  image: ["registry/ml train:1.4", /the name of an image such as/],
  mounts: ["/data", /a list of mounts such as/],
  "parameter of a search": ["uniform 0 1", /a parameter such as float 1e-5 1e-1 log/],
  "all | number": ["some", /all, or a number of trials such as 3/],
  rungs: ["1 81 1", /MIN MAX FACTOR in whole steps/],
  price: ["1e3", /a price such as 0\.04 or 2/],
  currency: ["EU R", /a currency such as EUR or €/],
  "time zone": ["Mars/Olympus", /a time zone such as UTC/],
};
/** What may be any text, which nothing here can refuse; and secrets, of which nothing is repeated. */
const ANY_TEXT: ReadonlySet<string> = new Set([
  "text",
  "list",
  "NAME=source list",
  "http or https URL",
  "http or https URL, or a host",
]);

const rows = Object.keys(keys)
  .filter((name): name is KeyName => name in keys)
  .map((name) => ({ name, label: keys[name].type.label }));
const written = (name: KeyName) =>
  keyFor(name, { role: "worker", group: "g", resource: "gpus", field: "date", param: "rate", feed: "train" });

describe("a value that its key does not take", () => {
  const kinds = rows.filter(({ label }) => !ANY_TEXT.has(label) && !label.includes("placement constraint"));
  test.each(kinds)("of $name is told with its line, what it must be and what it is", ({ name, label }) => {
    const words = label.split(" | ");
    const [text, said] = refused[label] ?? ["somewhat", new RegExp(`one of ${words.join(", ")}`)];
    const key = written(name);
    const values = { ...minimalJob, [key]: text };
    const line = Object.keys(values).indexOf(key) + 1;
    const told = saidAbout(values).filter((one) => one.startsWith(`job.xml:${line}: ${key} must be `));
    expect(told).toEqual([expect.stringMatching(said)]);
    expect(told[0]).toContain(`not "${text}"`);
  });
});

describe("a name of a role that the job does not have", () => {
  test.each([
    ["tony.application.untracked.jobtypes", "warning: "],
    ["tony.application.sidecar.jobtypes", "warning: "],
    ["tony.application.stop-on-failure-jobtypes", "warning: "],
    ["tony.application.group.g", "warning: "],
    ["tony.application.prepare-stage", ""],
    ["tony.application.training-stage", ""],
    ["tony.worker.depends-on", ""],
  ])("in %s is told with its line, and the one that was meant", (key, severity) => {
    const limit = { "tony.application.dependency.ps.timeout.after.g": "60" };
    const job = { "tony.worker.instances": "1", "tony.ps.instances": "1", "tony.containers.command": "true", ...limit };
    const said = saidAbout({ ...job, [key]: "wroker" });
    expect(said).toContain(
      `job.xml:5: ${severity}${key} names wroker, which the job does not have; did you mean worker?`,
    );
  });
});

test.each([
  ["tony.task.heartbeat-interval-ms", "0.1s"],
  ["tony.task.metrics-interval-ms", "0.1s"],
  ["tony.container.launch-timeout", "1s"],
  ["tony.task.orphan-timeout", "10s"],
  ["tony.carrier.timeout", "1s"],
  ["tony.failure.infrastructure-window", "1s"],
] as const)("%s of 0, which would fail every job, is refused with the least that works", (name, least) => {
  expect(saidAbout({ ...minimalJob, [name]: "0" }).join("\n")).toContain(
    `${name} must be a duration of at least ${least}`,
  );
});
