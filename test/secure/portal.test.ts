import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { request } from "node:https";
import path from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { afterAll, afterEach, describe, expect, test } from "@jest/globals";
import { ClusterUser, environmentFor, testCluster } from "../support/cluster.ts";
import { eventually } from "../support/eventually.ts";
import { oneTask, Person } from "../support/person.ts";
import { sweep } from "../support/sweep.ts";

const run = promisify(execFile);
const library = path.resolve("dist/lib/src/hadoop/security/kerberos");
/** Prints a user's ticket for a host's web server; a process of its own, as the Kerberos library reads the environment of its process. */
const negotiation = `
  import { KerberosLogin } from "${library}/login.js";
  import { chooseSpnego } from "${library}/spnego.js";
      const begin = await chooseSpnego(new KerberosLogin());
  const { token } = await (await begin(process.argv[1])).step(Buffer.of());
  process.stdout.write("Negotiate " + token.toString("base64"));`;
const cluster = await testCluster();
const location = `/user/${ClusterUser.alice}/secure-portal`;

describe("the portal's own door", () => {
  const alice = new Person(cluster);
  afterEach(() => sweep(cluster));
  afterAll(() => alice.leave());

  /** A key and a certificate of it, signed by itself unless an authority is named. @returns their files without their endings */
  async function certificate(name: string, authority?: string): Promise<string> {
    const file = path.join(alice.folder, name);
    const by = authority === undefined ? [] : ["-CA", `${authority}.pem`, "-CAkey", `${authority}.key`];
    const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", `${file}.key`];
    await run("openssl", ["req", "-x509", ...key, "-subj", `/CN=${name}`, "-days", "1", "-out", `${file}.pem`, ...by]);
    return file;
  }

  async function ticketOf(user: string, host: string) {
    const env = { ...process.env, ...environmentFor(cluster, user) };
    const { stdout } = await run(process.execPath, ["--input-type=module", "-e", negotiation, host], { env });
    return { authorization: stdout };
  }

  test("shows each who has a ticket or a certificate his jobs, and tells others whose they are", async () => {
    const { keytabs = "" } = cluster.security ?? {};
    const job = alice.job("of alice", { ...oneTask, "tony.history.location": location });
    const [id = ""] = /application_\d+_\d+/.exec((await alice.run("submit", job)).stdout) ?? [];
    const host = new URL(cluster.endpoints.resourceManager).hostname;
    const authority = await certificate("authority");
    const [server, bob] = [await certificate(host, authority), await certificate(ClusterUser.bob, authority)];
    const files = {
      "tls-certificate": `${server}.pem`,
      "tls-key": `${server}.key`,
      "spnego-keytab": path.join(keytabs, "http.keytab"),
      "client-ca": `${authority}.pem`,
    };
    const conf = Object.entries(files).map(([key, file]) => `tony.portal.${key}=${file}`);
    const words = [`tony.history.location=${location}`, ...conf].flatMap((one) => ["--conf", one]);
    const portal = alice.start("portal", "--port", "0", ...words);
    const [, port = ""] = await portal.output(/https:\/\/127\.0\.0\.1:(\d+)\//);

    const options = { host: "127.0.0.1", port, servername: host, ca: readFileSync(`${authority}.pem`), agent: false };
    const ask = (address: string, headers: object, more: object = {}) =>
      new Promise<{ status: number | undefined; cookie: string; body: string }>((resolve, reject) => {
        request({ ...options, path: address, headers: { host, ...headers }, ...more }, (response) => {
          const cookie = response.headers["set-cookie"]?.[0]?.split(";")[0] ?? "";
          text(response).then((body) => resolve({ status: response.statusCode, cookie, body }), reject);
        })
          .on("error", reject)
          .end();
      });
    const stranger = await ask("/api/v1/jobs", {});
    expect(stranger).toMatchObject({ status: 401, body: expect.stringContaining("kinit") });

    const entered = await ask("/api/v1/jobs", await ticketOf(ClusterUser.alice, host));
    expect(entered).toMatchObject({ status: 200, cookie: expect.stringMatching(/^tony-portal=alice\./) });
    await eventually("her job", async () => {
      const { body } = await ask(`/api/v1/jobs?name=${id}`, { cookie: entered.cookie });
      return body.includes('"matching":1') ? true : undefined;
    });
    const asBob = { cert: readFileSync(`${bob}.pem`), key: readFileSync(`${bob}.key`) };
    for (const [headers, more] of [
      [await ticketOf(ClusterUser.bob, host), {}],
      [{}, asBob],
    ] as const)
      expect(await ask(`/jobs/${id}/api/v1/live`, headers, more)).toMatchObject({
        status: 403,
        body: expect.stringContaining(`bob may not see ${id}: it is alice's`),
      });
    const unsigned = await certificate(ClusterUser.alice);
    const own = { cert: readFileSync(`${unsigned}.pem`), key: readFileSync(`${unsigned}.key`) };
    expect(await ask("/api/v1/jobs", {}, own)).toMatchObject({ status: 401 });
  });
});
