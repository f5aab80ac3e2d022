import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, test } from "@jest/globals";
import { KeytabTokens, type KeytabTokensOptions } from "../../../am/keytab/keytab-tokens.ts";
import { type LoginRequest, parseLoginRequest } from "../../../am/keytab/login-request.ts";
import { noCredentials } from "../../../src/hadoop/security/credentials.ts";
import { writeTokenFile } from "../../../src/hadoop/security/token-file.ts";
import { sha256Of } from "../../../src/job/stored/job-keytab.ts";
import { aJobFile } from "../../support/job-file.ts";
import { aJobSpec } from "../../support/job-spec.ts";
import { silentLog } from "../../support/silent-log.ts";
import { aDelegationToken } from "../../support/tokens.ts";

const folder = mkdtempSync(path.join(tmpdir(), "tony-keytab-"));
afterAll(() => rmSync(folder, { recursive: true }));

const content = Buffer.from("keys");
const shipped = (link: string, text: string) => {
  writeFileSync(path.join(folder, link), text);
  return { link, sha256: sha256Of(Buffer.from(text)) };
};
const keytab = {
  principal: "ada@EXAMPLE",
  sha256: sha256Of(content),
  program: shipped("tokens.cjs", "program"),
  nativeModules: { x64: shipped("koffi-x64.node", "native") },
  hadoop: {
    "dfs.namenode.delegation.token.renew-interval": "40000",
    "yarn.resourcemanager.delegation.token.renew-interval": "40000",
  },
};
const job = aJobFile({
  spec: aJobSpec({ checkpointDir: "hdfs://ns2/ckpt" }),
  hadoop: { "fs.defaultFS": "hdfs://ns" },
});

/** Runs it while its time passes in its sleeps, until then; tells when, in seconds, what happened. */
async function ranUntil(endMs: number, changes: Partial<KeytabTokensOptions> = {}) {
  let nowMs = 0;
  const requests: { atS: number; program: string; request: LoginRequest }[] = [];
  const warnings: string[] = [];
  let held = { ...noCredentials, tokens: [aDelegationToken(0, 600_000)] };
  const tokens = new KeytabTokens({
    job,
    keytab,
    read: async () => content,
    held: () => held,
    take: (fresh) => {
      held = { ...held, tokens: [...fresh] };
    },
    log: { ...silentLog, warn: (_event, message) => warnings.push(message) },
    run: async (program, request) => {
      requests.push({ atS: nowMs / 1_000, program, request });
      return writeTokenFile({ ...noCredentials, tokens: [aDelegationToken(nowMs, nowMs + 600_000)] });
    },
    now: () => nowMs,
    clock: {
      sleep: async (delayMs) => {
        nowMs += delayMs;
        if (nowMs > endMs) tokens.stop();
      },
    },
    folder,
    architecture: "x64",
    ...changes,
  });
  await tokens.run();
  return { requests, warnings, held };
}

describe("a job that takes its keytab along", () => {
  test("has new delegation tokens when a quarter of a renewal's time is left, again and again", async () => {
    const { requests, held, warnings } = await ranUntil(100_000);
    expect(requests.map(({ atS }) => atS)).toEqual([30, 60, 90]);
    expect(held.tokens).toEqual([aDelegationToken(90_000, 690_000)]);
    expect(warnings).toEqual([]);
  });

  test("logs in by the program and the native module that it was sent, for the file systems that it uses", async () => {
    const [{ program, request } = {}] = (await ranUntil(30_000)).requests;
    expect(program).toBe(path.join(folder, "tokens.cjs"));
    expect(request).toEqual({
      principal: "ada@EXAMPLE",
      keytab: content.toString("base64"),
      nativeModule: path.join(folder, "koffi-x64.node"),
      user: "ada",
      hadoop: { ...job.hadoop, ...keytab.hadoop },
      used: [{ uri: job.stagingUrl }, { uri: "hdfs://ns2/ckpt" }],
    });
    expect(parseLoginRequest(JSON.stringify(request))).toEqual(request);
  });

  test("runs nothing that is not what was submitted, and says so once", async () => {
    const changed = { ...keytab, nativeModules: { x64: { link: "koffi-x64.node", sha256: sha256Of(content) } } };
    const { requests, warnings } = await ranUntil(40_000, { keytab: changed });
    expect(requests).toEqual([]);
    expect(warnings).toEqual([
      "The delegation tokens end in 10 s, and there are no new ones yet: koffi-x64.node is not what was submitted",
    ]);
  });

  test("reads it once, while the tokens that it has still open the folder", async () => {
    let reads = 0;
    const read = async () => {
      reads += 1;
      if (reads > 1) throw new Error("the tokens have ended");
      return content;
    };
    const { requests, warnings } = await ranUntil(100_000, { read });
    expect(requests.length).toBeGreaterThan(1);
    expect([reads, warnings]).toEqual([1, []]);
  });

  test("uses no keytab but its own", async () => {
    const { requests, warnings } = await ranUntil(40_000, { read: async () => Buffer.from("another's") });
    expect(requests).toEqual([]);
    expect(warnings).toEqual([expect.stringMatching(/the keytab is not what was submitted$/)]);
  });

  test("says on a node of another architecture what was sent", async () => {
    const { warnings } = await ranUntil(40_000, { architecture: "arm64" });
    expect(warnings).toEqual([expect.stringMatching(/this node is arm64, and koffi was sent for x64$/)]);
  });

  test("tells what the program says that could not log in", async () => {
    const failing =
      "process.stdin.resume(); process.stdin.on('end', () => { console.error('Cannot log in as ada'); process.exit(1); });";
    const program = shipped("failing.cjs", failing);
    const { warnings } = await ranUntil(31_000, { keytab: { ...keytab, program }, run: undefined });
    expect(warnings).toEqual([expect.stringMatching(/no new ones yet: Cannot log in as ada$/)]);
  });

  test("has the program take little virtual memory, which a node counts with the ApplicationMaster's", async () => {
    const telling =
      "process.stdin.resume(); process.stdin.on('end', () => { console.error(require('fs').readFileSync('/proc/self/status', 'utf8')); process.exit(1); });";
    const { warnings } = await ranUntil(31_000, {
      keytab: { ...keytab, program: shipped("telling.cjs", telling) },
      run: undefined,
    });
    const [, peakKiB] = /VmPeak:\s+(\d+) kB/.exec(warnings[0] ?? "") ?? [];
    // V8 reserves more from Node 24 on, whatever it is told.
    const limitKiB = Number.parseInt(process.versions.node, 10) < 24 ? 300_000 : 700_000;
    expect(Number(peakKiB)).toBeLessThan(limitKiB);
  });

  test("takes what the program answers", async () => {
    const answer = Buffer.from(
      writeTokenFile({ ...noCredentials, tokens: [aDelegationToken(30_000, 600_000)] }),
    ).toString("base64");
    const program = shipped(
      "answering.cjs",
      `process.stdin.resume(); process.stdin.on('end', () => process.stdout.write(Buffer.from('${answer}', 'base64')));`,
    );
    const { held } = await ranUntil(30_000, { keytab: { ...keytab, program }, run: undefined });
    expect(held.tokens).toEqual([aDelegationToken(30_000, 600_000)]);
  });
});

test("the program that logs in wants to be told who does", () => {
  expect(() => parseLoginRequest("{}")).toThrow(/is started by a job's ApplicationMaster/);
});
