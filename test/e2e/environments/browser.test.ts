import { writeFileSync } from "node:fs";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import type { SearchStatus, TaskStatus } from "../../../src/job/status.ts";
import { outOfMemory } from "../../client/job-status.ts";
import { HistoryFolder } from "../../portal/history-folder.ts";
import { Chromium, type Page } from "../../support/chromium.ts";
import { ClusterUser, testCluster } from "../../support/cluster.ts";
import { eventually } from "../../support/eventually.ts";
import { oneTask, Person } from "../../support/person.ts";
import { aLargeJob, showJob, showPortal } from "../../support/shown-pages.ts";
import { sweep } from "../../support/sweep.ts";

const cluster = await testCluster();
const markup = `</script><script>pwned = 1</script><img src=x onerror="pwned = 1">`;
/** What runs, what turns the text around, what a terminal obeys. */
const hostile = `${markup} \u202Eevil\u202C \u001B[31mred\u001B[0m`;
const schemes = ["light", "dark"] as const;

/** Fonts differ from machine to machine: the pictures of the documents are made anew where `TONY_PICTURES=1` asks for it. */
function keepPicture(name: string, picture: Buffer): void {
  if (process.env.TONY_PICTURES === "1") writeFileSync(`docs/pictures/${name}.png`, picture);
}

describe("in a real browser", () => {
  let browser: Chromium;
  let history: HistoryFolder;
  const alice = new Person(cluster);
  beforeAll(async () => {
    browser = await Chromium.start();
    history = new HistoryFolder();
  });
  afterEach(() => sweep(cluster));
  afterAll(async () => {
    await browser.close();
    history.remove();
    await alice.leave();
  });

  async function portalOf(location: string): Promise<string> {
    const portal = alice.start("portal", "--port", "0", "--conf", `tony.history.location=${location}`);
    return (await portal.output(/http:\S+/))[0];
  }

  /** Nothing that a job said ran, or made the browser complain, and axe-core finds nothing wrong. */
  async function expectSound(page: Page): Promise<void> {
    expect(await page.value("typeof pwned")).toBe("undefined");
    expect(await page.value("/[\\u202E\\u001B]/.test(document.body.innerText)")).toBe(false);
    expect(page.complaints).toEqual([]);
    expect(await page.violations()).toEqual([]);
  }

  /** Of the task in that row, which the viewer has scrolled to. */
  async function expectChartsInView(page: Page, row: number): Promise<void> {
    const button = `document.querySelectorAll("#rows button")[${row}]`;
    const task = await page.value(`${button}.scrollIntoView(), ${button}.click(), ${button}.innerText`);
    await page.until(`document.querySelector("#charts h2")?.innerText === ${JSON.stringify(task)}`);
    const top = Number(await page.value(`document.querySelector("#charts").getBoundingClientRect().top`));
    // Where a browser scrolls to is a whole number of pixels of the screen.
    expect(top).toBeGreaterThan(-1);
    expect(top).toBeLessThan(400);
  }

  describe.each(schemes)("with %s colours", (scheme) => {
    test("the portal shows what jobs say as text, and is used by keyboard alone", async () => {
      const endedAtMs = Date.now();
      const lines = [hostile, "x".repeat(1_000_000)];
      const cause = { ...outOfMemory(), summary: `worker:1 ${hostile}`, lines };
      const failure = { split: 7, path: hostile, start: 0, end: 9, reason: hostile };
      const counts = { epoch: 0, epochs: 1, splits: 40, used: 10, leftOut: 1, triedAgain: 0 };
      const feeds = [{ name: "train", ...counts, failures: [failure], readers: [] }];
      history.write({ number: 1, name: hostile, queue: hostile, result: "failed", cause, endedAtMs, more: { feeds } });
      const cost = { amount: 12.5, currency: "EUR" };
      const usage = { memoryMiBSeconds: 1024 * 3600, vcoreSeconds: 3600, gpuSeconds: 7200, cost };
      const search: SearchStatus = {
        ...{ metric: hostile, direction: "minimize", parameters: [hostile], command: hostile, space: [hostile] },
        ...{ algorithm: "tpe", stop: "median", maxParallel: 2 },
      };
      const trial: TaskStatus = {
        ...{ task: "worker:0", state: "failed", restarts: 0, params: { [hostile]: hostile } },
        trial: { state: "failed", why: hostile },
      };
      history.write({ number: 3, name: "onerror", endedAtMs, more: { search, tasks: [trial] } });
      history.write({ number: 2, name: "tame", startedAtMs: 2_000, endedAtMs, usage });
      const page = await browser.open(await portalOf(`file://${history.root}`), { scheme });

      await page.until(`document.querySelectorAll("#rows tr").length === 3`);
      expect(await page.text("#rows")).toContain(markup);
      await page.tabTo("summary");
      await page.press("Enter");
      await page.until(`document.querySelector("#use-rows")?.innerText.includes("12.5 EUR") === true`);
      await page.press("Enter");
      await page.tabTo("[name=name]");
      await page.type("onerror");
      await page.until(`document.querySelectorAll("#rows tr").length === 2`);
      await page.tabTo("summary");
      await page.press("Enter");
      await page.until(`document.querySelector("#use-rows tr") !== null`);
      await expectSound(page);

      const links = await page.value(`[...document.querySelectorAll("#rows a")].map((a) => a.href).sort().join(" ")`);
      const [ofJob, ofSearch] = String(links).split(" ");
      await page.go(String(ofSearch));
      await page.until(`document.querySelectorAll("#trials tr").length === 1`);
      expect(String(await page.text("#job")).split(markup).length).toBeGreaterThan(5);
      await page.tabTo("#trials button");
      await page.press(" ");
      await page.until(`document.querySelector("#charts h2")?.innerText === "worker:0"`);
      await expectSound(page);

      await page.go(String(ofJob));
      await page.until(`document.querySelectorAll("#rows tr").length === 3`);
      expect(await page.text("h1")).toContain(markup);
      expect(await page.text("pre")).toContain(markup);
      expect(await page.text("#job")).toContain(`split 7 (${markup}`);
      expect(await page.value(`document.querySelector("progress").value`)).toBe(11);
      expect(await page.text(".note h2")).toBe("Advice");
      await page.tabTo("#by-memory");
      await page.press("Enter");
      await page.until(`document.querySelector("#by-memory").closest("th").ariaSort === "descending"`);
      expect(await page.value("document.activeElement.id")).toBe("by-memory");
      await page.tabTo("#rows button");
      await page.press(" ");
      await page.until(`document.querySelector("#charts h2") !== null`);
      await page.tabTo("summary");
      await page.press("Enter");
      await page.until(`document.querySelector("#events").open`);
      expect(await page.value("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
      await expectSound(page);
    });
  });

  test("the portal's list says what its address asks for wrongly, and its pages lead back to it", async () => {
    const own = new HistoryFolder();
    own.write({
      number: 1,
      startedAtMs: 100_000,
      endedAtMs: 109_000,
      more: { submittedAtMs: 5_000, roles: [], tasks: [] },
    });
    const portal = await portalOf(`file://${own.root}`);
    const page = await browser.open(`${portal}?state=nonsense`);
    await page.until(`document.querySelector("#trouble")?.innerText.startsWith("state is one of waiting, running")`);
    await page.go(`${portal}?user=ad*`);
    await page.until(`document.querySelectorAll("#rows tr").length === 1`);
    expect(await page.text("#rows")).toContain("after 1 min 35 s in the queue");
    await page.go(String(await page.value(`document.querySelector("#rows a").href`)));
    await page.until(`document.querySelectorAll("#columns th").length === 8`);
    expect(await page.text("#columns")).not.toContain("GPU");
    await page.go(String(await page.value(`document.querySelector("#head a").href`)));
    await page.until(`document.querySelectorAll("#rows tr").length === 1`);
    await page.go(new URL("/jobs/application_1_0009/", portal).href);
    await page.until(`document.querySelector("h1")?.innerText === "No job to show"`);
    expect(await page.text("#trouble")).toContain("The history has no job application_1_0009");
    own.remove();
  });

  test.each(schemes)("the portal compares two jobs that are chosen by keyboard, with %s colours", async (scheme) => {
    const pair = new HistoryFolder();
    const endedAtMs = Date.now();
    const startedAtMs = endedAtMs - 60_000;
    const times = { startedAtMs, endedAtMs, name: hostile, queue: hostile };
    const series = { step: [1, 2, null, 4], cpu: [1, 0.5], [`metric:${markup}`]: [0.9, null, 0.5, 0.25] };
    pair.write({
      ...times,
      number: 1,
      settings: { "tony.worker.memory": "2g", [markup]: `${markup} \u202Eevil\u202C` },
      series,
    });
    const cause = { ...outOfMemory(), summary: hostile };
    const settings = { "tony.worker.memory": "x".repeat(100_000), same: "1" };
    pair.write({ ...times, number: 2, result: "failed", cause, settings, series: { ...series, step: [2, 4] } });
    const portal = await portalOf(`file://${pair.root}`);
    const page = await browser.open(portal, { scheme });
    await page.until(`document.querySelectorAll("#rows tr").length === 2`);
    await page.tabTo("#choose-application_1_0001");
    await page.press(" ");
    await page.until(`document.querySelector("#compare").innerText.startsWith("1 chosen")`);
    await page.tabTo("#choose-application_1_0002");
    await page.press(" ");
    await page.tabTo("#compare a");
    await page.press("Enter");

    await page.until(`document.querySelectorAll("#charts svg").length === 3`);
    expect(await page.text("#outcomes")).toContain("1 min 0 s");
    expect(await page.text("#settings")).toContain(markup);
    expect(await page.text("#charts")).toContain(markup);
    expect(await page.value(`document.querySelector("#charts svg").ariaLabel.includes("steps 1 to 4")`)).toBe(true);
    expect(await page.value("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
    await expectSound(page);

    await page.tabTo("#outcomes a");
    await page.press("Enter");
    await page.until(`document.querySelector("#compare")?.hidden === false`);
    await page.tabTo("[name=b]");
    await page.type("application_1_0009");
    await page.press("Enter");
    await page.until(
      `document.querySelector("#trouble")?.innerText.includes("has no job application_1_0009") === true`,
    );
    await page.go(new URL("jobs/application_1_0008", portal).href);
    await page.until(
      `document.querySelector("#trouble")?.innerText.includes("has no job application_1_0008") === true`,
    );
    pair.write({ number: 3, name: "unheard", startedAtMs });
    await page.go(new URL("jobs/application_1_0003", portal).href);
    await page.until(`document.querySelector("#job")?.innerText.startsWith("worker × 2") === true`);
    expect(await page.text("#head")).not.toMatch(/AM on|held/);
    pair.remove();
  });

  test.each(schemes)(
    "ten thousand tasks are shown behind a gateway, at twice the size too, and while the AM is replaced: %s",
    async (scheme) => {
      const status = aLargeJob(10_000);
      const job = await showJob(status);
      const page = await browser.open(job.address, { scheme });
      await page.until(`document.querySelectorAll("#rows tr").length === 50`);
      expect(await page.text("#place")).toBe("1 to 50 of 10000");
      // What browsers call good; a page that jumps has more.
      expect(await page.shifts()).toBeLessThan(0.1);
      await page.tabTo("#filter");
      await page.type("worker:5");
      await page.until(`document.querySelector("#place").innerText === "1 to 50 of 1111 (10000 in all)"`);
      expect(await page.value("document.querySelector('.slow').innerText")).toContain("62 % slow");
      await page.until(`document.querySelector("#advice")?.innerText.includes("by the first 100 tasks") === true`);
      expect(await page.text(".figures")).toMatch(/^queued 6 min containers 1 min 30 s files 1 min 12 s /);
      expect(await page.text(".timeline")).toContain("attempt 2 of its ApplicationMaster took over at");
      await page.tabTo("#rows button");
      await page.press("Enter");
      await page.until(`document.querySelectorAll("#charts svg").length === 5`);
      await expectChartsInView(page, 49);
      await page.zoom(2);
      await expectChartsInView(page, 48);
      expect(await page.value("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
      await expectSound(page);

      const look = `document.dispatchEvent(new Event("visibilitychange"))`;
      job.show(undefined);
      await page.value(look);
      await page.until(`document.querySelector("#trouble").innerText.startsWith("No answer")`);
      job.show({ ...status, attempt: 2, amHost: "node-08" });
      await page.value(look);
      await page.until(`document.querySelector("#head").innerText.includes("AM on node-08, attempt 2")`);
      expect(await page.text("#place")).toBe("1 to 50 of 1111 (10000 in all)");
      expect(await page.text("#trouble")).toBe("");
      job.close();
    },
  );

  test("the README's pictures are of these pages", async () => {
    const job = await showJob(aLargeJob(6));
    const page = await browser.open(job.address);
    await page.until(`document.querySelectorAll("#rows tr").length === 6`);
    await page.value(`document.querySelector("#rows button").click()`);
    await page.until(`document.querySelector("#charts svg") !== null`);
    keepPicture("job-page", await page.picture());
    const portal = await showPortal();
    const list = await browser.open(portal.address);
    await list.until(`document.querySelectorAll("#rows tr").length === 12`);
    keepPicture("portal", await list.picture());
    expect(await list.shifts()).toBeLessThan(0.1);
    job.close();
    portal.close();
  });

  test("a running job's page is served through YARN's proxy, and its address leads to the portal at the end", async () => {
    const location = `/user/${ClusterUser.alice}/browser-history`;
    const portal = await portalOf(location);
    const job = alice.job("watched", {
      ...oneTask,
      "tony.history.location": location,
      "tony.portal.url": portal,
      "tony.worker.command": `echo '${markup}'; echo '{"step": 7, "metrics": {"<b>loss": 0.5}}' >> $TONY_PROGRESS_FILE; for n in $(seq 600); do echo line $n; sleep 1; done`,
    });
    const id = (await alice.run("submit", "--detach", job, "-conf", `tony.application.name=${markup}`)).stdout.trim();
    const address = await eventually("the page", async () => {
      const { exitCode, stdout } = await alice.run("page", id, "--address");
      return exitCode === 0 ? stdout.trim() : undefined;
    });

    const page = await browser.open(address);
    await page.until(`document.querySelector("#rows")?.innerText.includes("<b>loss 0.5") === true`);
    await page.tabTo("#rows button");
    await page.press("Enter");
    await page.until(`document.querySelector("#charts svg") !== null`);
    for (const section of ["events", "config", "log"]) {
      await page.tabTo(`#${section} summary`);
      await page.press("Enter");
    }
    await page.until(`document.querySelector("#event-rows").innerText.includes("cluster spec sent")`);
    await page.until(`document.querySelector("#config-rows").innerText.includes("-conf")`);
    expect(await page.text("#config-rows")).toContain(markup);
    await page.until(`document.querySelector("#log-lines").innerText.includes("<script>")`);
    expect(await page.text("#log-lines")).toContain(markup);
    await page.until(`document.querySelector("#log-lines").innerText.includes("line 2")`);
    await expectSound(page);
    await page.zoom(3);
    await expectSound(page);
    await page.zoom(1);

    await alice.run("kill", id);
    await page.until(`document.querySelector("#trouble").innerText.startsWith("No answer")`);
    await page.reload();
    await page.until(`document.title.endsWith("killed")`);
    expect(await page.value("location.origin")).toBe(new URL(portal).origin);

    await page.tabTo("#log summary");
    await page.press("Enter");
    await page.tabTo("#log-form button");
    // Its node stores it a while after the end.
    await eventually("its log", async () => {
      await page.press("Enter");
      await page.until(`!["", "The log is being read …"].includes(document.querySelector("#log-place").innerText)`);
      return String(await page.text("#log-lines")).includes(markup) ? true : undefined;
    });
    expect(await page.value("typeof pwned")).toBe("undefined");
    expect(await page.violations()).toEqual([]);
  });
});
