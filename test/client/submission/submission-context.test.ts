import { describe, expect, test } from "@jest/globals";
import { localJobFile } from "../../../client/submission/local-master.ts";
import { masterEnvironment, masterLaunch, submissionContext } from "../../../client/submission/submission-context.ts";
import { makeIdentity, masterSecrets, readMasterIdentity } from "../../../src/api/identity.ts";
import { readTokenFile } from "../../../src/hadoop/security/token-file.ts";
import { closedLogName, UNFINISHED } from "../../../src/job/closed-log.ts";
import { programSecretsIn } from "../../../src/job/launch/program-secrets.ts";
import type { JobSpec } from "../../../src/job/spec.ts";
import { aJobSpec } from "../../support/job-spec.ts";
import { aDelegationToken } from "../../support/tokens.ts";

const launch = { files: [], environment: {}, commands: ["true"], credentials: new Uint8Array(0) };

const id = "application_1_0001";

function context(changes: Partial<JobSpec> = {}, cancelTokensWhenComplete = true) {
  return submissionContext(id, aJobSpec(changes), launch, { cancelTokensWhenComplete });
}

describe("what YARN is told of a job", () => {
  const { am } = aJobSpec();

  test.each<[string, Partial<JobSpec>, object]>([
    [
      "its name, queue and size",
      { name: "bert", queue: "ml" },
      { id, name: "bert", queue: "ml", masterResource: am.resource },
    ],
    [
      "its type, of which YARN takes 20 letters",
      { applicationType: "TONY-of-the-night-shift" },
      { type: "TONY-of-the-night-sh" },
    ],
    ["its tags", { tags: ["red", "blue"] }, { tags: ["red", "blue"] }],
    ["its priority, the lowest too", { priority: 0 }, { priority: 0 }],
    ["the label of its ApplicationMaster's node", { am: { ...am, nodeLabel: "cpu" } }, { masterNodeLabel: "cpu" }],
    ["the label of all others", { nodeLabel: "gpu" }, { nodeLabelExpression: "gpu" }],
    ["how often its ApplicationMaster may start", { am: { ...am, maxAttempts: 2 } }, { maxAppAttempts: 2 }],
    [
      "that its containers outlive an attempt, and that one that failed long ago does not count",
      {},
      { keepContainers: true, maxAppAttempts: 1_000, attemptFailuresValidityIntervalMs: 600_000 },
    ],
  ])("is %s", (_what, changes, told) => {
    expect(context(changes)).toMatchObject(told);
  });

  test("is nothing of what the job does not say", () => {
    const unsaid = ["priority", "masterNodeLabel", "nodeLabelExpression"];
    expect(Object.keys(context()).filter((name) => unsaid.includes(name))).toEqual([]);
  });

  test("is whether it cancels the job's tokens: not those of whoever gave them", () => {
    expect([true, false].map((cancels) => context({}, cancels).cancelTokensWhenComplete)).toEqual([true, false]);
  });

  test("is who may see it and who may end it, where the job says so", () => {
    expect(context().masterLaunch.acls).toEqual({});
    expect(context({ viewAcl: "ada,bob ml", modifyAcl: " ops" }).masterLaunch.acls).toEqual({
      viewers: "ada,bob ml,ops",
      modifiers: " ops",
    });
  });

  test("is to store all logs at the end, and while it runs those alone that are closed", () => {
    const { include = "", exclude = "", rolledInclude = "", rolledExclude } = context().logAggregation ?? {};
    const stored = (name: string) => [
      new RegExp(include).test(name) && !new RegExp(exclude).test(name),
      new RegExp(rolledInclude).test(name),
    ];
    const closed = closedLogName("trainer-0.stdout", 5);
    expect(["stdout", "am.log", "output.index"].map(stored)).toEqual(Array(3).fill([true, false]));
    expect(stored(closed)).toEqual([true, true]);
    expect(stored(closed + UNFINISHED)).toEqual([false, false]);
    expect(rolledExclude).toBe("");
  });
});

const staging = { user: "ada", stagingUrl: "hdfs://ns/user/ada/.tony-ts/application_1_0001", hadoop: {} };
const stored = { staging, sha256: "0".repeat(64) };

describe("an ApplicationMaster is started", () => {
  const file = (link: string) => ({
    ...{ link, url: `hdfs://ns/cache/${link}`, sizeBytes: 1, modificationTimeMs: 2 },
    ...({ type: "FILE", visibility: "PRIVATE" } as const),
  });
  const identity = makeIdentity(id);
  const credentials = {
    tokens: [aDelegationToken(1, 2)],
    secrets: new Map([["key", Buffer.from("given")], ...masterSecrets(makeIdentity("application_1_0009"))]),
  };
  const started = (tokensConf?: Uint8Array) => {
    const job = localJobFile({ id, user: "ada", spec: aJobSpec(), folder: "/staging", all: [file("executor.cjs")] });
    const files = { ...job.files, master: [file("am.cjs"), file("node")] };
    const tokens = { credentials, ...(tokensConf && { tokensConf }) };
    const secrets = new Map([["API_KEY", "hidden"]]);
    return masterLaunch({ jobFile: { ...job, node: "./node", files }, stored, tokens, secrets, identity });
  };

  test("by its own files and Node, knowing where its job is", () => {
    const { files, commands, environment } = started();
    expect(files?.map(({ link }) => link)).toEqual(["am.cjs", "node"]);
    expect(commands).toEqual([expect.stringMatching(/\.\/node.* .*am\.cjs/)]);
    expect(environment).toMatchObject({ TONY_JOB_SHA256: stored.sha256 });
  });

  test("with the job's tokens, the secrets of its programs, and its own key whatever key it was given", () => {
    const { tokens, secrets } = readTokenFile(started().credentials ?? Buffer.alloc(0));
    expect(tokens).toMatchObject([{ token: { service: "ha-hdfs:ns" } }]);
    expect(readMasterIdentity(id, secrets).key).toEqual(Buffer.from(identity.key));
    expect(programSecretsIn(secrets)).toEqual({ API_KEY: "hidden" });
    expect(secrets.get("key")).toEqual(Buffer.from("given"));
  });

  test("with what the ResourceManager needs to renew them, where it needs anything", () => {
    expect(started(Buffer.from("conf")).tokensConf).toEqual(Buffer.from("conf"));
    expect(started()).not.toHaveProperty("tokensConf");
  });
});

test("a person's variables are expanded in the ApplicationMaster's environment as in an executor's, and run no command", () => {
  const spec = aJobSpec({ containerEnvironment: { WHERE: "$HOME/x", SAID: '"; id; $(id) "' } });
  expect(masterEnvironment(spec, stored)).toMatchObject({
    WHERE: "$HOME/x",
    SAID: '\\"; id; \\$(id) \\"',
  });
});

test("what says where its job is, and in which image it runs, no variable of a person's takes the place of", () => {
  const image = { YARN_CONTAINER_RUNTIME_TYPE: "docker", YARN_CONTAINER_RUNTIME_DOCKER_IMAGE: "ml/base:1" };
  const { am } = aJobSpec();
  const wrong = { ...image, YARN_CONTAINER_RUNTIME_TYPE: "none", TONY_JOB_SHA256: "1" };
  const environment = masterEnvironment(aJobSpec({ am: { ...am, image }, containerEnvironment: wrong }), stored);
  expect(environment).toMatchObject({ ...image, TONY_JOB_SHA256: stored.sha256 });
});
