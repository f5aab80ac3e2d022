import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, expect, test } from "@jest/globals";
import { TokenKind } from "../../src/hadoop/security/token.ts";
import { readTokenFile, writeTokenFile } from "../../src/hadoop/security/token-file.ts";
import { ClusterUser, environmentFor, testCluster } from "../support/cluster.ts";
import { eventually } from "../support/eventually.ts";
import { TonyTs, tonyTs } from "../support/tony-ts.ts";

const cluster = await testCluster();
const folder = mkdtempSync(path.join(tmpdir(), "tony-secure-tokens-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The tokens of the first test's job. */
const given = path.join(folder, "given");

const byTicket = environmentFor(cluster, ClusterUser.alice);
const byTokens = (file: string) => ({
  ...byTicket,
  KRB5CCNAME: `FILE:${folder}/no-ticket`,
  HADOOP_TOKEN_FILE_LOCATION: file,
});

/** A job of one worker that runs this. */
function jobRunning(command: string): string[] {
  const settings = {
    "tony.application.framework": "generic",
    "tony.worker.instances": "1",
    "tony.worker.command": command,
    "tony.worker.memory": "512m",
    "tony.am.memory": "512m",
    "tony.node.binary": `local:${process.execPath}`,
  };
  return ["submit", ...Object.entries(settings).flatMap(([key, value]) => ["--conf", `${key}=${value}`])];
}

test("a job by a ticket has the tokens that it needs, and one by those alone runs, too", async () => {
  const first = new TonyTs(jobRunning('echo "file: $(base64 -w0 $HADOOP_TOKEN_FILE_LOCATION)"; sleep 300'), byTicket);
  const [, base64 = ""] = await first.output(/file: (\S+)/);
  const { tokens, secrets } = readTokenFile(Buffer.from(base64, "base64"));
  const { hdfsDelegation, keyManagement, resourceManagerDelegation, timeline } = TokenKind;
  const expected: string[] = [hdfsDelegation, keyManagement, resourceManagerDelegation];
  if (cluster.settings.timeline) expected.push(timeline);
  expect(tokens.map(({ token }) => token.kind).sort()).toEqual(expected.sort());
  expect(secrets.size).toBe(0);

  writeFileSync(given, Buffer.from(base64, "base64"), { mode: 0o600 });
  const second = await tonyTs(jobRunning("echo works"), byTokens(given));
  expect(second).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/worker:0 \| works/) });
  expect(second.stdout).toContain(`tokens  those of ${given}, which stay valid when the job has ended`);

  first.process.kill("SIGTERM");
  expect((await first.ended).stdout).toContain("KILLED");
});

test.each([
  ["list", "RPC"],
  ["cache list", "WebHDFS"],
])("%s: tokens of other services are named where there is no ticket either (%s)", async (words) => {
  const { tokens, secrets } = readTokenFile(readFileSync(given));
  const elsewhere = tokens.map(({ alias, token }) => ({ alias, token: { ...token, service: `${token.service}9` } }));
  const file = path.join(folder, "elsewhere");
  writeFileSync(file, writeTokenFile({ tokens: elsewhere, secrets }), { mode: 0o600 });
  const { exitCode, stderr } = await tonyTs(words.split(" "), byTokens(file));
  expect(exitCode).toBe(3);
  expect(stderr).toMatch(
    /elsewhere \(HADOOP_TOKEN_FILE_LOCATION\) has tokens of other services alone \(.*RM_DELEGATION/,
  );
  expect(stderr).toMatch(/ and .*there is no Kerberos ticket in FILE:.*\n {2}kinit/);
});

test("a token file that cannot be read is named, and what mends it", async () => {
  const { exitCode, stderr } = await tonyTs(["list"], byTokens(path.join(folder, "none")));
  expect(exitCode).toBe(3);
  expect(stderr).toMatch(/HADOOP_TOKEN_FILE_LOCATION names .*none, whose delegation tokens cannot be read/);
});

test("a job that takes its keytab along has new tokens without a ticket or a client", async () => {
  const { KRB5_CONFIG = "" } = byTicket;
  const changed =
    'f=$HADOOP_TOKEN_FILE_LOCATION; cp $f old; while cmp -s $f old; do sleep 0.3; done; echo "new tokens"';
  const settings = {
    "tony.kerberos.keytab": path.join(cluster.security?.keytabs ?? "", "alice.keytab"),
    "tony.kerberos.principal": "alice",
    "tony.kerberos.ship-keytab": "true",
    "dfs.namenode.delegation.token.renew-interval": "20000",
  };
  const conf = Object.entries(settings).flatMap(([key, value]) => ["--conf", `${key}=${value}`]);
  const withoutTicket = { ...byTicket, KRB5CCNAME: `FILE:${folder}/no-ticket` };
  const job = [...jobRunning(changed), ...conf, "--container_env", `KRB5_CONFIG=${KRB5_CONFIG}`];
  expect(await tonyTs(job, withoutTicket)).toMatchObject({
    exitCode: 0,
    stdout: expect.stringMatching(/worker:0 \| new tokens/),
  });
});

test("tokens that YARN cancelled with their job are named, with their file", async () => {
  const refusal = (words: readonly string[]) => tonyTs(words, byTokens(given)).then(({ stderr }) => stderr);
  // The ResourceManager does that 30 s after the end (yarn.resourcemanager.delegation-token.removal-scan-interval-ms).
  await eventually("they are cancelled", async () => (await refusal(["list"])) !== "", 90_000);
  expect(await refusal(["list"])).toMatch(
    /^tony-ts: The token RM_DELEGATION_TOKEN for .* in .*given is no longer valid: /,
  );
  expect(await refusal(["cache", "list"])).toMatch(
    /^tony-ts: The token HDFS_DELEGATION_TOKEN for .*given is no longer valid: /,
  );
});
