import { beforeEach, describe, expect, test } from "@jest/globals";
import { localJobFile } from "../../../client/submission/local-master.ts";
import { jobTokenKeeper, noNewTokens } from "../../../client/tokens/job-token-keeper.ts";
import type { TokenCluster } from "../../../client/tokens/job-tokens.ts";
import { Configuration } from "../../../src/hadoop/conf/configuration.ts";
import { noCredentials } from "../../../src/hadoop/security/credentials.ts";
import { simpleCredentials } from "../../../src/hadoop/security/simple-credentials.ts";
import { readTokenFile } from "../../../src/hadoop/security/token-file.ts";
import { jobFileName, tokensFileName } from "../../../src/job/stored/stored-job.ts";
import { aJobSpec } from "../../support/job-spec.ts";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const submittedAtMs = 1_795_305_600_000;
const away = new Error("HDFS is away");

let told: string[];
let nowMs: number;
beforeEach(() => {
  [told, nowMs] = [[], submittedAtMs + hourMs];
});

function aCluster(changes: Partial<TokenCluster> = {}): TokenCluster & { readonly tell: (text: string) => void } {
  return {
    isSecured: true,
    given: undefined,
    configuration: new Configuration(),
    own: simpleCredentials({ name: "ada" }),
    fileSystems: { locate: () => ({ fileSystem: { uri: "hdfs://ns" } }) },
    resourceManager: { delegationToken: () => Promise.reject(away) },
    tell: (text) => told.push(text),
    ...changes,
  };
}

/** When it looks after the tokens, by so many looks, in hours after the submission. @param replacedAtMs undefined: they never were */
async function looks(replacedAtMs: number | undefined, count: number): Promise<number[]> {
  const at: number[] = [];
  const staging = {
    writtenAtMs: async () => replacedAtMs ?? Promise.reject(away),
    read: () => Promise.reject(away),
    replace: () => Promise.reject(away),
  };
  const sleep = async (ms: number) => {
    nowMs += ms;
    at.push((nowMs - submittedAtMs) / hourMs);
    if (at.length === count) keeper?.stop();
  };
  const keeper = jobTokenKeeper(
    aCluster(),
    async () => staging,
    submittedAtMs,
    () => nowMs,
    { sleep },
  );
  await keeper?.run();
  return at;
}

describe("the tokens of a job that a client follows", () => {
  test("are replaced when a quarter of a renewal is left of their longest life", async () => {
    expect(await looks(undefined, 1)).toEqual([7 * 24 - 6]);
  });

  test("are replaced earlier where another client has replaced them before: the ResourceManager renews those not", async () => {
    expect(await looks(submittedAtMs + 2 * dayMs, 1)).toEqual([3 * 24 - 6]);
  });

  test("are asked for again every half an hour where there are none, which is told once", async () => {
    expect(await looks(undefined, 4)).toEqual([162, 162.5, 163, 163.5]);
    expect(told).toEqual([
      "The job's delegation tokens end in 6 h, and there are no new ones yet: HDFS is away\n  Get a new ticket (kinit) while this follows the job: it tries again",
    ]);
  });

  test("are put into its staging folder, where all its processes find them", async () => {
    nowMs = submittedAtMs + 7 * dayMs;
    const token = {
      identifier: Buffer.from("id"),
      password: Buffer.from("pw"),
      kind: "RM_DELEGATION_TOKEN",
      service: "",
    };
    const configuration = new Configuration().withValues({
      "yarn.resourcemanager.hostname": "127.0.0.9",
      "yarn.resourcemanager.principal": "rm@R",
    });
    const cluster = aCluster({
      configuration,
      resourceManager: { delegationToken: async () => token },
      fileSystems: { locate: () => ({ fileSystem: { uri: "file://" } }) },
    });
    const asked: string[] = [];
    const watched = {
      ...cluster,
      fileSystems: {
        locate: (uri: string) => {
          asked.push(uri);
          return cluster.fileSystems.locate(uri);
        },
      },
    };
    const local = localJobFile({
      id: "application_1_0001",
      user: "ada",
      spec: aJobSpec(),
      folder: "/staging",
      all: [],
    });
    const job = { ...local, stagingUrl: "hdfs://ns/staging", hdfsEndpoint: "http://httpfs:14000" };
    const put = new Map<string, Uint8Array>();
    const staging = {
      writtenAtMs: () => Promise.reject(away),
      read: async (name: string) => (name === jobFileName ? Buffer.from(JSON.stringify(job)) : Promise.reject(away)),
      replace: async (name: string, content: Uint8Array) => void put.set(name, content),
    };
    const sleep = async () => keeper?.stop();
    const keeper = jobTokenKeeper(
      watched,
      async () => staging,
      submittedAtMs,
      () => nowMs,
      { sleep },
    );
    await keeper?.run();
    expect(new Set(asked)).toEqual(new Set(["hdfs://ns/staging", "webhdfs://httpfs:14000/"]));
    expect([told, [...put.keys()]]).toEqual([[], [tokensFileName]]);
    const { tokens } = readTokenFile(Buffer.from(put.get(tokensFileName) ?? []));
    expect(tokens).toMatchObject([{ token: { kind: "RM_DELEGATION_TOKEN" } }]);
  });

  test("that end soon are told with when", () => {
    expect(noNewTokens(away, 30_000)).toMatch(/^The job's delegation tokens end in 30 s, /);
  });

  test("that have ended are told of as such", async () => {
    nowMs = submittedAtMs + 8 * dayMs;
    await looks(undefined, 1);
    expect(told[0]).toMatch(/^The job's delegation tokens have ended, /);
  });

  test.each<[string, Partial<TokenCluster>]>([
    ["on a cluster that wants none", { isSecured: false }],
    [
      "where this process was given its own",
      { given: { file: "/tokens", credentials: noCredentials, owner: undefined } },
    ],
  ])("are replaced by nobody %s", (_, changes) => {
    const keeper = jobTokenKeeper(
      aCluster(changes),
      () => Promise.reject(away),
      submittedAtMs,
      () => nowMs,
    );
    expect(keeper).toBeUndefined();
  });
});
