import { execFile } from "node:child_process";
import { lookup } from "node:dns/promises";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, afterEach, describe, expect, test } from "@jest/globals";
import { Chromium, type Page } from "../support/chromium.ts";
import { ClusterUser, testCluster } from "../support/cluster.ts";
import { eventually } from "../support/eventually.ts";
import { oneTask, Person } from "../support/person.ts";
import { sweep } from "../support/sweep.ts";

const run = promisify(execFile);
const cluster = await testCluster();
const location = `/user/${ClusterUser.alice}/browser`;
const { resourceManager } = cluster.endpoints;

describe("in a Chromium that logs in with its user's ticket", () => {
  const alice = new Person(cluster, ClusterUser.alice);
  const bob = new Person(cluster, ClusterUser.bob);
  const browsers: Chromium[] = [];
  afterEach(() => sweep(cluster));
  afterAll(async () => {
    await Promise.all(browsers.map((browser) => browser.close()));
    await Promise.all([alice.leave(), bob.leave()]);
  });

  /** Of a browser that has looked at the ResourceManager already: its first login fails, as it loads the Kerberos library then. */
  async function pageOf({ environment }: Person): Promise<Page> {
    const trusting = [`--auth-server-allowlist=${new URL(resourceManager).hostname}`, "--ignore-certificate-errors"];
    const browser = await Chromium.start(trusting, environment);
    browsers.push(browser);
    const page = await browser.open("about:blank");
    await seen(page, `${resourceManager}/cluster`, `document.querySelector("#user") !== null`);
    return page;
  }

  /** By her own ticket it reads HDFS and asks YARN's proxy; it listens where the ResourceManager does, by whose name browsers know it. */
  async function startPortal(): Promise<string> {
    const { keytabs = "", keyStore = { file: "", password: "" } } = cluster.security ?? {};
    const pem = path.join(alice.folder, "web.pem");
    const from = ["pkcs12", "-in", keyStore.file, "-passin", `pass:${keyStore.password}`, "-nodes", "-out", pem];
    await run("openssl", from);
    const settings = {
      "tony.history.location": location,
      "tony.portal.tls-certificate": pem,
      "tony.portal.tls-key": pem,
      "tony.portal.spnego-keytab": path.join(keytabs, "http.keytab"),
    };
    const words = Object.entries(settings).flatMap(([key, value]) => ["--conf", `${key}=${value}`]);
    const { hostname } = new URL(resourceManager);
    const { address } = await lookup(hostname);
    const portal = alice.start("portal", "--port", "0", "--listen", address, ...words);
    const [, port = ""] = await portal.output(/The portal is at https:.*:(\d+)\//);
    return `https://${hostname}:${port}`;
  }

  test("a job's owner sees all of it at its address and in the portal, another user what YARN tells everybody", async () => {
    const job = alice.job("watched", {
      ...oneTask,
      "tony.history.location": location,
      "tony.worker.command": `echo '{"step": 7, "metrics": {"loss": 0.5}}' >> $TONY_PROGRESS_FILE; sleep 600`,
    });
    const id = (await alice.run("submit", "--detach", job)).stdout.trim();
    const address = `${resourceManager}/proxy/${id}/`;
    const [hers, his, portal] = await Promise.all([pageOf(alice), pageOf(bob), startPortal()]);

    await seen(hers, address, `document.querySelector("#rows") !== null`);
    await hers.until(`document.querySelector("#rows").innerText.includes("loss 0.5")`);
    await his.go(address);
    await his.until(`document.querySelector("#head")?.innerText.includes("This is what YARN shows everyone") === true`);
    expect(await his.text("#rows")).toBe("");

    const there = `${portal}/jobs/${id}`;
    await hers.go(there);
    await hers.until(`document.querySelector("#rows")?.innerText.includes("loss 0.5") === true`);
    await his.go(there);
    await his.until(`document.body?.innerText.includes("bob may not see ${id}: it is alice's") === true`);
    await alice.run("kill", id);
  });
});

/** Goes there until what it waits for is there. */
async function seen(page: Page, address: string, expression: string): Promise<void> {
  await eventually(
    address,
    async () => {
      await page.go(address);
      await page.until(`document.readyState === "complete"`);
      return (await page.value(expression)) === true;
    },
    120_000,
    1_000,
  );
}
