import { describe, expect, test } from "@jest/globals";
import { readDocument } from "../../../../client/migration/skein/document.ts";
import { findSpecification, migrateSpecification } from "../../../../client/migration/skein/specification.ts";
import { parseProperties } from "../../../../src/hadoop/conf/xml.ts";
import { formatProblem } from "../../../../src/job/problem.ts";
import { commandOf, environmentOf } from "../../../frameworks/support.ts";
import { check } from "../../../job/support.ts";

/** What a specification becomes: the settings, and `kind line message` of each remark. */
function migrated(text: string) {
  const { text: xml, remarks } = migrateSpecification(readDocument(text, "app.yaml"));
  const settings = parseProperties(xml, "app.tony-ts.xml", { readText: () => undefined }).map(({ name, value }) => [
    name,
    value ?? "",
  ]);
  return {
    settings: Object.fromEntries(settings) as Record<string, string>,
    remarks: remarks.map(({ kind, at, message }) => `${kind} ${at.replace("app.yaml:", "")} ${message}`),
  };
}

const training = `
name: digits
queue: ml
user: ada
node_label: big
tags: [nightly, "a b"]
file_systems:
  - hdfs://other
max_attempts: 2
acls:
  enable: yes
  view_users: [bob]
  view_groups: [ml]
  modify_users: ["*"]
  ui_users: ["*"]
services:
  ps:
    resources: {memory: 2 GiB, vcores: 1}
    script: ./serve.sh
  Train_Worker:
    instances: 4
    depends: [ps]
    max_restarts: 3
    node_label: gpu
    resources:
      memory: 4096
      vcores: 2
      gpus: 1
    files:
      env: hdfs:///envs/torch.tar.gz
      data:
        source: file:///data/set
        type: ARCHIVE
        visibility: PUBLIC
      train.py: train.py
    env:
      RATE: 0.1
      LIST: a,b
    script: |
      source env/bin/activate
      python train.py
`;

describe("a specification of Skein's", () => {
  const { settings, remarks } = migrated(training);

  test("becomes a job that tony-ts takes", () => {
    expect(settings).toEqual({
      "tony.application.framework": "generic",
      "tony.application.name": "digits",
      "tony.yarn.queue": "ml",
      "tony.application.node-label": "big",
      "tony.application.tags": "nightly,a b",
      "tony.other.namenodes": "hdfs://other",
      "tony.am.max-attempts": "2",
      "tony.application.acl.view": "bob ml",
      "tony.application.acl.modify": "*",
      "tony.role-ps.instances": "1",
      "tony.role-ps.memory": "2048m",
      "tony.role-ps.vcores": "1",
      "tony.role-ps.command": "./serve.sh",
      "tony.train-worker.instances": "4",
      "tony.train-worker.restart-policy": "task",
      "tony.train-worker.retry-count": "3",
      "tony.train-worker.node-label": "gpu",
      "tony.train-worker.memory": "4096m",
      "tony.train-worker.vcores": "2",
      "tony.train-worker.gpus": "1",
      "tony.train-worker.resources":
        "hdfs:///envs/torch.tar.gz::env#archive,/data/set::data#archive,train.py::train.py",
      "tony.train-worker.envs": "RATE=0.1,LIST=a\\,b",
      "tony.train-worker.command": "source env/bin/activate\npython train.py",
    });
    const lookUp = (file: string) => (file === "/data/set" ? "directory" : "file");
    const { problems } = check(settings, { workingDirectory: "/job", lookUp });
    expect(problems.filter(({ severity }) => severity === "error").map(formatProblem)).toEqual([]);
  });

  test("says of each line what becomes of it", () => {
    expect(remarks).toEqual(
      expect.arrayContaining([
        "changes 2 name becomes tony.application.name",
        "changes 12 view_users becomes tony.application.acl.view",
        "to-mend 4 user: set HADOOP_PROXY_USER=ada where the job is submitted",
        "no-meaning 15 ui_users: whom tony.application.acl.view names sees the job wherever it shows",
        "changes 20 service Train_Worker becomes a role, named train-worker",
        expect.stringMatching(/^no-meaning 22 depends: all programs start together/),
        expect.stringMatching(
          /^changes 23 max_restarts becomes tony\.train-worker\.retry-count: a task keeps its number/,
        ),
        "changes 26 memory becomes tony.train-worker.memory",
      ]),
    );
  });

  test("that has no services runs its script in the ApplicationMaster's container", () => {
    const alone =
      "name: x\nmaster:\n  resources: {memory: 512 MiB, vcores: 1}\n  env: {A: 1}\n  log_level: DEBUG\n  script: sleep 60\n";
    expect(migrated(alone).settings).toEqual({
      "tony.application.framework": "generic",
      "tony.application.name": "x",
      "tony.am.memory": "512m",
      "tony.am.vcores": "1",
      "tony.execution.envs": "A=1",
      "tony.am.log-level": "debug",
      "tony.am.command": "sleep 60",
    });
  });

  test.each([
    ["all", "debug"],
    ["TRACE", "debug"],
    ["INFO", "info"],
    ["WARN", "warn"],
    ["ERROR", "error"],
    ["FATAL", "error"],
    ["OFF", "error"],
    ["LOUD", "info"],
  ])("whose master logs at level %s does so at %s", (level, expected) => {
    const { settings: values } = migrated(`master: {script: x, log_level: ${level}}`);
    expect(values["tony.am.log-level"]).toBe(expected);
  });

  test("whose master has what has no meaning here, or no field, has that said, and its files are the AM's", () => {
    const { settings: values, remarks: said } = migrated(
      "master:\n  script: x\n  files: {f: g}\n  log_config: log.xml\n  security: {a: b}\n  color: red\n",
    );
    expect(values["tony.am.resources"]).toBe("g::f");
    expect(said.filter((one) => !one.startsWith("changes"))).toEqual([
      "no-meaning 4 log_config is log4j's",
      "no-meaning 5 security: each application makes its own keys",
      "to-mend 6 color is not a field of Skein",
    ]);
  });

  test("with a service called driver has its master's script in role master", () => {
    const { settings: values } = migrated(
      "master: {script: x, resources: {memory: 1 GiB}, files: {f: g}}\nservices:\n  driver: {script: y}\n",
    );
    expect(values).toMatchObject({
      "tony.master.command": "x",
      "tony.master.memory": "1024m",
      "tony.master.resources": "g::f",
      "tony.master.instances": "1",
      "tony.driver.command": "y",
      "tony.application.untracked.jobtypes": "driver",
    });
  });

  test("lets those in that it names: groups alone, everybody, or nobody where its lists are off", () => {
    const acls = (text: string) => migrated(`acls: {${text}}\nservices: {a: {script: x}}\n`);
    const groups = acls("enable: true, view_groups: [ml, ops], modify_users: [ada, '*']");
    expect(groups.settings).toMatchObject({
      "tony.application.acl.view": " ml,ops",
      "tony.application.acl.modify": "*",
    });
    expect(groups.remarks[0]).toBe("changes 1 view_groups becomes tony.application.acl.view");
    const off = acls("enable: false, view_users: [bob]");
    expect(Object.keys(off.settings).filter((key) => key.includes("acl"))).toEqual([]);
    expect(off.remarks[0]).toBe("no-meaning 1 acls have no effect: enable is not true");
  });

  test("has a field that Skein has not told with its line", () => {
    expect(migrated("colour: blue\nservices: {a: {script: x}}\n").remarks[0]).toBe(
      "to-mend 1 colour is not a field of Skein",
    );
  });

  test("has a service whose name begins with a digit named so that a role may have it", () => {
    const { settings: values } = migrated("services:\n  1st: {script: x, allow_failures: no, max_restarts: many}\n");
    expect(values["tony.role-1st.command"]).toBe("x");
    expect(values).not.toHaveProperty(["tony.application.fail-on-worker-failure-enabled"]);
  });

  test("whose script drives its services ends with that", () => {
    const driven =
      "master: {script: python drive.py, env: {A: 1}, security: {}}\nservices:\n  worker: {script: work, resources: {memory: 1 GiB, vcores: 1}}\n";
    const { settings: values, remarks: said } = migrated(driven);
    expect(values).toMatchObject({
      "tony.driver.instances": "1",
      "tony.driver.command": "python drive.py",
      "tony.driver.envs": "A=1",
      "tony.application.untracked.jobtypes": "worker",
    });
    expect(said).toContain("changes 1 the job ends when role driver does, and does not wait for worker");
  });

  test("has what cannot be here named: hosts, fields that are none, Skein in a script", () => {
    const { remarks: said } = migrated(
      "services:\n  am:\n    nodes: [n1]\n    allow_failures: true\n    color: blue\n    script: skein kv get --key x\n",
    );
    expect(said).toEqual([
      "changes 2 service am becomes a role, named role-am",
      expect.stringMatching(/^to-mend 3 nodes: hosts cannot be named/),
      expect.stringMatching(/^changes 4 allow_failures becomes tony\.application\.fail-on-worker-failure-enabled/),
      "to-mend 5 color is not a field of Skein",
      "changes 6 script becomes tony.role-am.command",
      expect.stringMatching(/^to-mend 6 the script uses Skein's key-value store: a job has one/),
    ]);
  });

  test("has services whose names mean something to a job named otherwise: all are waited for, and count", () => {
    const script = "{script: x}";
    const { settings: values, remarks: said } = migrated(
      `services:\n  ps: ${script}\n  tensorboard: ${script}\n  chief: ${script}\n`,
    );
    expect(said.filter((remark) => remark.includes("service"))).toEqual([
      "changes 2 service ps becomes a role, named role-ps: a job does not wait for a role of that name",
      "changes 3 service tensorboard becomes a role, named role-tensorboard: a job does not wait for a role of that name",
      "changes 4 service chief becomes a role, named role-chief: a job ends with the role of that name",
    ]);
    const { spec } = check(values);
    expect(spec?.roles.map(({ tracking, stopOnFailure, chief }) => ({ tracking, stopOnFailure, chief }))).toEqual(
      Array.from({ length: 3 }, () => ({ tracking: "tracked", stopOnFailure: false, chief: "none" })),
    );
  });

  test("as Skein writes it, with all that is not set: that is nothing", () => {
    const { settings: values, remarks: said } = migrated(`
name: x
queue: default
user: ''
node_label: ''
tags: []
file_systems: []
acls: {enable: false, view_users: [], view_groups: [], modify_users: [], modify_groups: [], ui_users: []}
master:
  resources: {memory: 512, vcores: 1, gpus: 0, fpgas: 0}
  files: {}
  env: {}
  script: ''
services:
  w:
    instances: 2
    resources: {memory: 1024, vcores: 1, gpus: 0, fpgas: 0}
    node_label: ''
    nodes: []
    racks: []
    relax_locality: false
    depends: []
    env: {EMPTY: ''}
    files: {}
    script: work
`);
    expect(values).toEqual({
      "tony.application.framework": "generic",
      "tony.application.name": "x",
      "tony.yarn.queue": "default",
      "tony.am.memory": "512m",
      "tony.am.vcores": "1",
      "tony.w.instances": "2",
      "tony.w.memory": "1024m",
      "tony.w.vcores": "1",
      "tony.w.envs": "EMPTY=",
      "tony.w.command": "work",
    });
    expect(said.filter((remark) => remark.startsWith("to-mend"))).toEqual([]);
  });

  test("has Skein in the master's script named, too", () => {
    const { remarks: said } = migrated("master:\n  script: skein application ls\n");
    expect(said).toContainEqual(expect.stringMatching(/^to-mend 2 the script uses Skein: \{\{spec\.<role>\}\}/));
  });

  test("names a service evaluator, or worker that may fail, otherwise: a job treats roles of that name apart", () => {
    const text = "services:\n  evaluator: {script: x}\n  worker: {script: y, allow_failures: true}\n";
    const { settings: values, remarks: said } = migrated(text);
    const { spec } = check(values);
    expect(spec?.roles.map(({ name, chief }) => [name, chief])).toEqual([
      ["role-evaluator", "none"],
      ["role-worker", "none"],
    ]);
    expect(said).toContain(
      "changes 3 service worker becomes a role, named role-worker: the failure of worker:0 always counts in a job with a role of that name",
    );
    expect(migrated("services:\n  worker: {script: y}\n").settings["tony.worker.command"]).toBe("y");
  });

  test("whose master has an environment and no script has that said", () => {
    const { settings: values, remarks: said } = migrated(
      "master: {env: {A: 1}, files: {f: g}}\nservices: {a: {script: x}}\n",
    );
    expect(said).toContain("no-meaning 1 env: the master runs no script");
    expect(values["tony.am.resources"]).toBe("g::f");
  });

  test.each([
    ["skein application shutdown current", "Skein to end the application: a job ends when its roles have"],
    ["python -m skein.recipes.jupyter_notebook", "Skein's recipes: tony-ts notebook runs Jupyter"],
    ["echo $SKEIN_CONTAINER_ID", "Skein: {{spec.<role>}}, {{index}} and {{count}} in it"],
  ])("has what does here what its script asks Skein for: %s", (script, here) => {
    const { remarks: said } = migrated(`services: {a: {script: "${script}"}}`);
    expect(said.at(-1)).toContain(`the script uses ${here}`);
  });

  test("keeps {{…}} of scripts and environments as the text that it is to Skein", () => {
    const { settings: values, remarks: said } = migrated(
      "services:\n  a:\n    env: {J: '{{ index }}', K: '{{index}}$HOME'}\n    script: echo {{x}} {{.ID}} {{index}}\n",
    );
    expect(said.at(-1)).toBe("changes 4 {{…}} in the script is text to Skein: it stays so behind \\");
    const { spec } = check(values);
    if (spec === undefined) throw new Error("refused");
    expect(commandOf(spec, "a:0")).toBe('export K="{{index}}$HOME"\necho {{x}} {{.ID}} {{index}}');
    expect(environmentOf(spec, "a:0").J).toBe("{{ index }}");
    const master = check(migrated("master: {script: 'echo {{x}} {{index}}'}").settings).spec;
    if (master === undefined) throw new Error("refused");
    expect(commandOf(master, "driver:0")).toBe("echo {{x}} {{index}}");
  });

  test("has numbers as YAML and Python write them", () => {
    const text = "services: {a: {script: x, instances: 1_0, resources: {memory: 1e3 MiB, vcores: 1.0}}, ";
    const { settings: values } = migrated(
      `${text}b: {script: y, resources: {memory: 2_048}}, c: {script: z, resources: {memory: 2g}}}`,
    );
    expect(values).toMatchObject({
      "tony.a.instances": "10",
      "tony.a.memory": "1000m",
      "tony.a.vcores": "1",
      "tony.b.memory": "2048m",
      "tony.c.memory": "1908m",
    });
  });

  test.each([
    ["a: 1\n---\nb: 2\n", 2, "a second document begins (---): put each in a file of its own"],
    ["a:\n  b: |\n\t\n    x\n", 3, "a line begins with a tab: YAML takes blanks only"],
  ])("that is refused has the reason and its line: %j", (text, line, reason) => {
    expect(() => readDocument(text, "a.yaml")).toThrow(
      expect.objectContaining({ code: "CONFIGURATION_MALFORMED", problem: reason, location: { file: "a.yaml", line } }),
    );
  });

  test("tolerates the failures of a service that allows them, and of no other", () => {
    const lenient = "a:\n    allow_failures: true\n    script: x\n";
    const { settings: values } = migrated(`services:\n  ${lenient}  b:\n    script: y\n`);
    expect(values).toMatchObject({
      "tony.application.fail-on-worker-failure-enabled": "false",
      "tony.application.stop-on-failure-jobtypes": "b",
    });
    expect(migrated(`services:\n  ${lenient}  b:\n    script: y\n`).remarks.at(-1)).toBe(
      "changes 1 a failure of b ends the job, as max_restarts is 0",
    );
    const restarted = migrated(`services:\n  ${lenient}  b:\n    max_restarts: 2\n    script: y\n`).settings;
    expect(restarted).not.toHaveProperty(["tony.application.stop-on-failure-jobtypes"]);
  });

  test("may be JSON, and its defaults are none of its own", () => {
    const json =
      '{"services": {"w": {"script": "x", "max_restarts": 0, "resources": {"memory": "1500 kb", "vcores": 1}}}}';
    expect(migrated(json).settings).toMatchObject({ "tony.w.memory": "2m" });
    expect(migrated(json).settings).not.toHaveProperty(["tony.w.retry-count"]);
  });

  test("counts the restarts of each of its services for that alone; one that has none ends the job", () => {
    const two = "services:\n  a: {script: x, max_restarts: 3}\n  b: {script: y, max_restarts: 2}\n  c: {script: z}\n";
    const { settings: values } = migrated(two);
    expect(values).toMatchObject({ "tony.a.retry-count": "3", "tony.b.retry-count": "2" });
    expect(Object.keys(values).filter((key) => /\.(c\.|am\.)retry|stop-on/.test(key))).toEqual([]);
    expect([values["tony.a.restart-policy"], values["tony.c.restart-policy"]]).toEqual(["task", undefined]);
  });

  test("without an end to its restarts gets so many that nobody sees the last", () => {
    const endless = "services:\n  a: {script: x, max_restarts: -1}\n";
    const { settings: values, remarks } = migrated(endless);
    expect(values).toMatchObject({ "tony.a.retry-count": "1000" });
    expect(remarks.find((remark) => remark.includes("max_restarts"))).toContain("1000 times");
  });

  test("says of its variables with $ in one line", () => {
    const { settings: values, remarks } = migrated('services:\n  a: {script: x, env: {A: $HOME, B: "${PWD}"}}\n');
    expect(remarks.find((remark) => remark.includes("$"))).toMatch(/: export A="\$HOME"; export B="\$\{PWD\}"$/);
    expect(values["tony.a.command"]).toBe('export A="$HOME"\nexport B="${PWD}"\nx');
    expect(values).not.toHaveProperty(["tony.a.envs"]);
  });

  test("has aliases, and mappings that others merge", () => {
    const text = `
base: &base
  resources: &big {memory: 8 GiB, vcores: 4}
  instances: 2
services:
  a: {<<: *base, script: x}
  b:
    <<: [*base, {node_label: gpu}]
    instances: 3
    script: y
  c: {script: z, resources: *big}
`;
    expect(migrated(text).settings).toMatchObject({
      "tony.a.memory": "8192m",
      "tony.a.vcores": "4",
      "tony.a.instances": "2",
      "tony.b.memory": "8192m",
      "tony.b.instances": "3",
      "tony.b.node-label": "gpu",
      "tony.c.memory": "8192m",
      "tony.c.vcores": "4",
    });
  });

  test("may have some hundreds of values, and has no more in a file that a person wrote", () => {
    const list = (length: number) => `a: [${Array(length).fill("x").join()}]\n`;
    expect(readDocument(list(498), "a.yaml").fields[0]?.items).toHaveLength(498);
    expect(() => readDocument(list(499), "a.yaml")).toThrow(
      expect.objectContaining({ code: "CONFIGURATION_MALFORMED", problem: "its aliases stand for too many values" }),
    );
  });

  test.each(["a: &a {b: *a}\n", "a: &a [*a]\n", "a: &a {<<: *a}\n"])(
    "that stands within itself is refused: %j",
    (text) => {
      expect(() => readDocument(text, "app.yaml")).toThrow("its aliases stand for too many values");
    },
  );

  test("may have a list of commands, of which one that fails is the last", () => {
    const text = "services:\n  a:\n    commands:\n      - cd /tmp\n      - ls\n";
    expect(migrated(text).settings["tony.a.command"]).toBe("set -x -e\ncd /tmp\nls");
    expect(findSpecification(readDocument(text, "a.yaml"))).toBeDefined();
    expect(migrated("master:\n  commands: [a, b]\n").settings["tony.am.command"]).toBe("set -x -e\na\nb");
    const both = migrated("master:\n  commands: [a]\nservices:\n  w: {script: x}\n");
    expect(both.settings).toMatchObject({
      "tony.driver.command": "set -x -e\na",
      "tony.driver.instances": "1",
      "tony.application.untracked.jobtypes": "w",
    });
    expect(both.remarks.filter((one) => one.startsWith("to-mend"))).toEqual([]);
  });

  test("may have files as Skein's first release lists them", () => {
    const list = "[{file: data/a.txt}, {archive: env.tar.gz}, {archive: e.zip, dest: e}, {file: x, dest: y}]";
    expect(migrated(`services:\n  a: {script: x, files: ${list}}\n`).settings["tony.a.resources"]).toBe(
      "data/a.txt::a.txt,env.tar.gz::env#archive,e.zip::e#archive,x::y",
    );
  });

  test("has variables of the node's expanded, as YARN does", () => {
    const quoted = `services: {a: {script: x, env: {A: 'say "$HOME"'}}}`;
    expect(migrated(quoted).settings["tony.a.command"]).toBe('export A="say \\"$HOME\\""\nx');
    const text = 'services:\n  a:\n    env: {PATH: "$HOME/bin:$PATH", N: 1}\n    script: train\n';
    expect(migrated(text).settings).toMatchObject({
      "tony.a.envs": "N=1",
      "tony.a.command": 'export PATH="$HOME/bin:$PATH"\ntrain',
    });
  });

  test("keeps services apart whose names come to the same", () => {
    const text = "services:\n  my_task: {script: x}\n  my-task: {script: y}\n  My.Task: {script: z}\n";
    expect(migrated(text).settings).toMatchObject({
      "tony.my-task.command": "x",
      "tony.my-task-2.command": "y",
      "tony.my-task-3.command": "z",
    });
  });

  test("has FPGAs, what has no meaning, and what Skein has no field for, told with its line", () => {
    const { settings: values, remarks: said } = migrated(
      "services:\n  a:\n    script: x\n    max_restarts: 0\n    allow_failures: false\n    racks: [r1]\n    relax_locality: true\n" +
        "    resources:\n      memory: 1 gb\n      fpgas: 2\n      tpus: 4\n    env: {N: 1}\n",
    );
    expect(values).toMatchObject({
      "tony.a.memory": "954m",
      "tony.a.resource.yarn.io/fpga": "2",
      "tony.a.envs": "N=1",
    });
    expect(Object.keys(values).filter((key) => /restart|retry|fail/.test(key))).toEqual([]);
    expect(said.filter((one) => !one.startsWith("changes"))).toEqual([
      "no-meaning 4 max_restarts: none is what holds without it",
      "no-meaning 5 allow_failures: that they count is what holds without it",
      expect.stringMatching(/^to-mend 6 racks: hosts cannot be named/),
      expect.stringMatching(/^no-meaning 7 relax_locality: it says how strictly/),
      "to-mend 11 tpus is not a field of Skein",
    ]);
    expect(said.filter((one) => one.includes("in front of the command"))).toEqual([]);
  });

  test("leaves to a person how many of a service without instances there are, and what a list of files is called", () => {
    const { settings: values, remarks: said } = migrated(
      "services:\n  a: {script: x, instances: 0, files: [env.zip]}\n",
    );
    expect(values).toMatchObject({ "tony.a.instances": "1" });
    expect(said.filter((one) => one.startsWith("to-mend"))).toEqual([
      expect.stringContaining("instances: 0 becomes 1"),
      expect.stringContaining("files: a list has no names"),
    ]);
  });

  test.each([
    ["services:\n  web: {image: nginx}\n", false],
    ["services:\n  w: {script: x}\n", true],
    ["master:\n  script: x\n", true],
    ["yarn: {specification: {services: {w: {script: x}}}}", true],
    ["specification: {services: {v: {}, w: {commands: [x]}}}", true],
    ["other: {specification: {services: {w: {script: x}}}}", false],
    ["yarn: {specification: {services: {w: {}}}}", false],
    ["[1, 2]", false],
    ["", false],
  ])("is told from other documents: %j", (text, expected) => {
    expect(findSpecification(readDocument(text, "a.yaml")) !== undefined).toBe(expected);
  });

  test("that is no YAML is refused with its line", () => {
    expect(() => readDocument("a: 1\nb: [", "a.yaml")).toThrow(
      expect.objectContaining({ location: expect.objectContaining({ file: "a.yaml" }) }),
    );
  });
});
