import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { Access } from "../../portal/access.ts";
import { JobIndex } from "../../portal/job-index.ts";
import { JobPages } from "../../portal/job-pages.ts";
import { PortalServer } from "../../portal/server.ts";
import { usualRoundings } from "../../src/advice/roundings.ts";
import { TonyError } from "../../src/errors.ts";
import { jobGauges, taskGauges } from "../../src/job/gauges.ts";
import { HistoryFolder } from "../portal/history-folder.ts";
import { eventually } from "../support/eventually.ts";
import { at, listAt, requestJson } from "../support/http-json.ts";
import { listenLocally, localAddress } from "../support/local-port.ts";
import { aLargeJob } from "../support/shown-pages.ts";

const monitoring = (name: string) => path.resolve("examples/monitoring", name);

describe("Prometheus", () => {
  let history: HistoryFolder;
  let server: PortalServer;
  let folder: string;
  let prometheus: ChildProcess;
  let address: string;

  beforeEach(async () => {
    history = new HistoryFolder();
    folder = mkdtempSync(path.join(tmpdir(), "tony-prometheus-"));
    const cost = { amount: 3.5, currency: "EUR" };
    const usage = { memoryMiBSeconds: 1024, vcoreSeconds: 10, gpuSeconds: 7200, cost };
    history.write({ number: 1, endedAtMs: Date.now() - 60_000, usage });
    history.write({ number: 2 });
    history.reports.set("application_1_0002", { user: "ada" });
    const nowMs = Date.now;
    const index = new JobIndex({ ...history, nowMs });
    await index.refresh();
    const access = new Access({ admins: "", groupsOf: async () => [], nowMs });
    let step = 0;
    const running = {
      pageOf: async ({ trackingUrl: url }: { trackingUrl: string }) => ({ url }),
      ask: async () => {
        step += 100;
        const job = aLargeJob(3);
        const moved = { ...job, tasks: job.tasks.map((task) => ({ ...task, step })) };
        return { gauges: jobGauges(moved), tasks: JSON.parse(JSON.stringify(taskGauges(moved))) };
      },
    };
    const logs = {
      read: async () => {
        throw new TonyError("there are none", { code: "NO_LOGS" });
      },
    };
    const { fileSystem, report } = history;
    const shown = { fileSystem, report, access, index, running, logs, roundings: usualRoundings, prices: {}, nowMs };
    const empty = Buffer.from("");
    const pages = { listPage: empty, jobPage: empty, comparePage: empty };
    server = new PortalServer({ index, access, nowMs, ...pages, jobs: new JobPages(shown) });
    const portal = new URL(await server.listen(0)).host;
    writeFileSync(path.join(folder, "prometheus.yml"), configuration(portal));
    const free = createServer();
    await listenLocally(free);
    const listening = localAddress(free);
    free.close();
    address = `http://${listening}`;
    prometheus = spawn(
      "prometheus",
      [
        "--config.file=prometheus.yml",
        "--storage.tsdb.path=data",
        `--web.listen-address=${listening}`,
        "--log.level=error",
      ],
      { cwd: folder, stdio: ["ignore", "ignore", "inherit"] },
    );
  });
  afterEach(() => {
    prometheus.kill("SIGKILL");
    server.close();
    history.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  const configuration = (portal: string) =>
    JSON.stringify({
      global: { scrape_interval: "1s", evaluation_interval: "1s" },
      rule_files: [monitoring("alerts.yml")],
      scrape_configs: [
        {
          job_name: "tony",
          params: { tasks: ["true"] },
          http_sd_configs: [{ url: `http://${portal}/api/v1/targets`, refresh_interval: "1s" }],
        },
      ],
    });
  const query = async (expression: string) => {
    const url = `${address}/api/v1/query?query=${encodeURIComponent(expression)}`;
    const { body } = await requestJson(url);
    return { status: at(body, "status"), error: at(body, "error"), result: listAt(body, "data", "result") };
  };

  test("finds the portal and its running jobs, and each panel of the dashboard and each rule has what it asks for", async () => {
    const jobs = () => query("count by (job) (up == 1)");
    await eventually("both targets", async () => {
      const found = await jobs().catch(() => undefined);
      return found?.result.length === 2;
    });
    const dashboard: unknown = JSON.parse(readFileSync(monitoring("grafana-dashboard.json"), "utf8"));
    const panels = listAt(dashboard, "panels").flatMap((panel) => listAt(panel, "targets"));
    const expressions = panels.map((target) => String(at(target, "expr")).replaceAll("$app", ".*"));
    expect(expressions.length).toBeGreaterThan(8);
    for (const expression of [...expressions, 'tony_task_step{role="worker",index="2"}'])
      await eventually(expression, async () => {
        const { status, error, result } = await query(expression);
        expect([expression, status, error]).toEqual([expression, "success", undefined]);
        return result.length > 0;
      });
    await eventually("the rules", async () => {
      const { body } = await requestJson(`${address}/api/v1/rules`);
      const rules = listAt(body, "data", "groups").flatMap((group) => listAt(group, "rules"));
      return rules.length > 0 && rules.every((rule) => at(rule, "health") === "ok");
    });
  }, 60_000);

  test("takes the alert rules, and what the portal exposes, without a word of its checker's", async () => {
    const told = spawnSync("promtool", ["check", "rules", monitoring("alerts.yml")], { encoding: "utf8" });
    expect([told.status, told.stderr]).toEqual([0, ""]);
    const portal = JSON.parse(readFileSync(path.join(folder, "prometheus.yml"), "utf8"));
    const { host } = new URL(String(at(portal, "scrape_configs", 0, "http_sd_configs", 0, "url")));
    for (const what of ["metrics", "metrics/application_1_0002?tasks=true"]) {
      const input = await (await fetch(`http://${host}/${what}`)).text();
      expect(spawnSync("promtool", ["check", "metrics"], { input, encoding: "utf8" })).toMatchObject({ stderr: "" });
    }
  });
});
