import { afterAll, afterEach, describe, expect, test } from "@jest/globals";
import { Chromium, type Page } from "../support/chromium.ts";
import { ClusterUser, testCluster } from "../support/cluster.ts";
import { eventually } from "../support/eventually.ts";
import { oneTask, Person } from "../support/person.ts";
import { sweep } from "../support/sweep.ts";

const cluster = await testCluster();
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

  test("a job's owner sees all of it at its address, another user what YARN tells everybody", async () => {
    const job = alice.job("watched", {
      ...oneTask,
      "tony.worker.command": `echo '{"step": 7, "metrics": {"loss": 0.5}}' >> $TONY_PROGRESS_FILE; sleep 600`,
    });
    const id = (await alice.run("submit", "--detach", job)).stdout.trim();
    const address = `${resourceManager}/proxy/${id}/`;
    const [hers, his] = await Promise.all([pageOf(alice), pageOf(bob)]);

    await seen(hers, address, `document.querySelector("#rows") !== null`);
    await hers.until(`document.querySelector("#rows").innerText.includes("loss 0.5")`);
    await his.go(address);
    await his.until(`document.querySelector("#head")?.innerText.includes("This is what YARN shows everyone") === true`);
    expect(await his.text("#rows")).toBe("");
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
