import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { expect, test } from "@jest/globals";
import { httpRequest } from "../../scripts/cluster/http.mjs";
import { askedByNobody } from "../support/asked-by-nobody.ts";
import { ClusterUser, clusterTool, testCluster } from "../support/cluster.ts";
import { eventually } from "../support/eventually.ts";
import { at, requestJson } from "../support/http-json.ts";
import { killApplication, submitCommand } from "../support/rest-application.ts";

const run = promisify(execFile);
const cluster = await testCluster();
const asAlice = { cluster, as: ClusterUser.alice };

test("every web end has a certificate of the cluster's authority and wants a Kerberos login", async () => {
  const ca = readFileSync(cluster.security?.certificateAuthority ?? "", "utf8");
  const urls = cluster.daemons.flatMap(({ url }) => (url === undefined ? [] : [`${url}/jmx`]));
  expect(urls.length).toBeGreaterThanOrEqual(6);
  for (const url of urls) {
    expect({ url, ...(await askedByNobody(url, ca)) }).toEqual({ url, status: 401, login: "Negotiate" });
  }
  await expect(askedByNobody(urls[0] ?? "", undefined)).rejects.toMatchObject({ code: "SELF_SIGNED_CERT_IN_CHAIN" });
});

test("the cluster's environment brings a ticket of the user that was asked for", async () => {
  const { stdout } = await clusterTool(["env", "--name", cluster.name, "--as", "bob", "--json"]);
  const environment: Record<string, string> = JSON.parse(stdout);
  const tickets = await run("klist", [], { env: { ...process.env, ...environment } });
  expect(tickets.stdout).toContain("Default principal: bob@TONY.TEST");
});

test.each([
  ["list alice's home", "/user/alice?op=LISTSTATUS", "GET"],
  ["list what is encrypted for alice", "/encrypted?op=LISTSTATUS", "GET"],
  ["remove alice's home", "/user/alice?op=DELETE&recursive=true", "DELETE"],
  ["look into alice's logs", "/tmp/logs/alice?op=LISTSTATUS", "GET"],
])("HDFS does not let bob %s", async (_what, path, method) => {
  const { webHdfs } = cluster.endpoints;
  const alices = await requestJson(`${webHdfs}/tmp/logs/alice?op=MKDIRS&permission=770`, { ...asAlice, method: "PUT" });
  expect(alices.status).toBe(200);
  const { status, body } = await requestJson(`${webHdfs}${path}`, { cluster, as: ClusterUser.bob, method });
  expect(status).toBe(403);
  expect(body).toMatchObject({ RemoteException: { exception: "AccessControlException" } });
});

test("YARN lets neither bob nor carol end alice's application, nor see what it was started with", async () => {
  const id = await submitCommand(cluster, { user: ClusterUser.alice, command: "sleep 300" });
  const url = `${cluster.endpoints.resourceManager}/ws/v1/cluster/apps/${id}`;
  try {
    // What bob and carol must not see is there only when a container is.
    await eventually("alice to see its log", async () =>
      at((await requestJson(url, asAlice)).body, "app", "amContainerLogs"),
    );
    for (const as of ["bob", "carol"]) {
      const killed = await httpRequest(cluster, `${url}/state`, { as, method: "PUT", body: { state: "KILLED" } });
      expect(killed).toEqual({ status: 403, text: expect.stringContaining("Unauthorized attempt to kill") });
      const seen = await requestJson(url, { cluster, as });
      expect(seen.body).not.toHaveProperty("app.amContainerLogs");
    }
  } finally {
    await killApplication(cluster, id, ClusterUser.alice);
  }
});
