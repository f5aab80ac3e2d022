import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, expect, test } from "@jest/globals";
import { TokenKind } from "../../src/hadoop/security/token.ts";
import { readTokenFile } from "../../src/hadoop/security/token-file.ts";
import { ClusterUser, environmentFor, testCluster } from "../support/cluster.ts";
import { TonyTs, tonyTs } from "../support/tony-ts.ts";

const cluster = await testCluster();
const folder = mkdtempSync(path.join(tmpdir(), "tony-secure-tokens-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

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
  const { hdfsDelegation, keyManagement, resourceManagerDelegation } = TokenKind;
  expect(tokens.map(({ token }) => token.kind).sort()).toEqual(
    [hdfsDelegation, keyManagement, resourceManagerDelegation].sort(),
  );
  expect(secrets.size).toBe(0);

  const file = path.join(folder, "given");
  writeFileSync(file, Buffer.from(base64, "base64"), { mode: 0o600 });
  const second = await tonyTs(jobRunning("echo works"), byTokens(file));
  expect(second).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/worker:0 \| works/) });
  expect(second.stdout).toContain(`tokens  those of ${file}, which stay valid when the job has ended`);

  first.process.kill("SIGTERM");
  expect((await first.ended).stdout).toContain("KILLED");
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
    "tony.keytab.location": path.join(cluster.security?.keytabs ?? "", "alice.keytab"),
    "tony.keytab.user": "alice",
    "tony.keytab.ship": "true",
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
