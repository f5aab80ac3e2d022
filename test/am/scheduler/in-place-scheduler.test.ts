import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, test } from "@jest/globals";
import type { Ask } from "../../../am/core/state/effects.ts";
import type { AllocatedContainer } from "../../../am/core/state/events.ts";
import { InPlaceScheduler, LinkedFiles } from "../../../am/scheduler/in-place/in-place-scheduler.ts";
import type { Scheduler, SchedulerEvent } from "../../../am/scheduler/scheduler.ts";
import type { ShippedFile } from "../../../src/job/stored/job-file.ts";

const resource = { memoryMiB: 1024, vcores: 1, others: {} };
const askOf = (role: string): Ask => ({ role, priority: 1, resource, count: 1, hosts: [], racks: [] });
const container = (containerId: string): AllocatedContainer => ({
  containerId,
  nodeId: "n1:1",
  host: "n1",
  nodeHttpAddress: "n1:2",
  priority: 1,
  resource,
});

/** Remembers what it is asked for; `tell` delivers an event of its own. */
class RecordedScheduler implements Scheduler {
  readonly waits = [];
  readonly answeredAtMs = undefined;
  readonly clientTokenKey = Buffer.from("a key");
  readonly calls: string[] = [];
  tell: (event: SchedulerEvent) => void = () => {};
  readonly #name: string;
  readonly #order: string[];

  constructor(name: string, order: string[] = []) {
    this.#name = name;
    this.#order = order;
  }

  async start(_address: unknown, deliver: (event: SchedulerEvent) => void) {
    this.tell = deliver;
    return { attempt: 1, keptContainers: [] };
  }
  ask = (asks: readonly Ask[]) => void this.calls.push(`ask ${asks.map(({ role }) => role).join(" ")}`);
  release = (ids: readonly string[]) => void this.calls.push(...ids.map((id) => `release ${id}`));
  blacklist = () => {};
  launch = (commands: readonly { readonly containerId: string }[]) =>
    void this.calls.push(...commands.map(({ containerId }) => `launch ${containerId}`));
  stop = (id: string) => void this.calls.push(`stop ${id}`);
  show = () => {};
  confirm = async () => true;
  finish = async () => this.#order.push(this.#name) > 0;
  close = async () => void this.calls.push("close");
}

async function started() {
  const order: string[] = [];
  const [cluster, own] = [new RecordedScheduler("cluster", order), new RecordedScheduler("own", order)];
  const scheduler = new InPlaceScheduler({ cluster, own, roles: new Set(["driver"]) });
  const events: SchedulerEvent[] = [];
  await scheduler.start({ host: "n1", port: 1 }, (event) => events.push(event));
  return { scheduler, cluster, own, events, order };
}

describe("an ApplicationMaster that runs a task in its own container", () => {
  test("takes its clients' tokens by the cluster's key", async () => {
    const { scheduler, cluster } = await started();
    expect(scheduler.clientTokenKey).toBe(cluster.clientTokenKey);
  });

  test("asks the cluster for the other roles' containers alone", async () => {
    const { scheduler, cluster, own } = await started();
    scheduler.ask([askOf("driver"), askOf("worker")]);
    expect([own.calls, cluster.calls]).toEqual([["ask driver"], ["ask worker"]]);
  });

  test("asks nobody for nothing", async () => {
    const { scheduler, cluster, own } = await started();
    scheduler.ask([askOf("driver")]);
    scheduler.ask([askOf("worker")]);
    expect([own.calls, cluster.calls]).toEqual([["ask driver"], ["ask worker"]]);
  });

  test("launches, stops and releases each container where it came from", async () => {
    const { scheduler, cluster, own } = await started();
    own.tell({ type: "containers-allocated", containers: [container("c1")] });
    cluster.tell({ type: "containers-allocated", containers: [container("c2")] });
    const command = (containerId: string) => {
      return { containerId, credentials: new Uint8Array(), environment: {}, commands: [], files: [] };
    };
    scheduler.launch([command("c1"), command("c2")]);
    scheduler.stop("c1");
    scheduler.stop("c2");
    scheduler.release(["c2", "c1"]);
    expect(own.calls).toEqual(["launch c1", "stop c1", "release c1"]);
    expect(cluster.calls).toEqual(["launch c2", "stop c2", "release c2"]);
  });

  test("hears of nodes and of its registration from the cluster alone", async () => {
    const { cluster, own, events } = await started();
    const nodes: SchedulerEvent = { type: "nodes-changed", nodes: [] };
    own.tell(nodes);
    expect(events).toEqual([]);
    cluster.tell(nodes);
    expect(events).toEqual([nodes]);
  });

  test("closes both", async () => {
    const { scheduler, cluster, own } = await started();
    await scheduler.close();
    expect([own.calls, cluster.calls]).toEqual([["close"], ["close"]]);
  });

  test("ends what runs in it before the cluster is told of the job's end", async () => {
    const { scheduler, order } = await started();
    const reason = { code: "tasks-ended", succeeded: 1, tasks: 1, onlyTracked: false } as const;
    await scheduler.finish({ result: "succeeded", summary: "1 of 1 task exited 0", reason, endedAtMs: 1 });
    expect(order).toEqual(["own", "cluster"]);
  });
});

test("a task in the ApplicationMaster's container finds that one's files under their names, also below folders", async () => {
  const root = await mkdtemp(path.join(tmpdir(), "tony-links-"));
  const own = path.join(root, "am");
  await mkdir(path.join(own, "conf"), { recursive: true });
  await writeFile(path.join(own, "train.py"), "train");
  await writeFile(path.join(own, "conf/a.json"), "{}");
  const file = (link: string): ShippedFile => ({
    ...{ link, url: "hdfs://nn/elsewhere", sizeBytes: 1, modificationTimeMs: 1, type: "FILE", visibility: "PRIVATE" },
  });

  const task = path.join(root, "task");
  await new LinkedFiles(own).place([file("train.py"), file("conf/a.json")], task);
  expect(await readFile(path.join(task, "train.py"), "utf8")).toBe("train");
  expect(await readFile(path.join(task, "conf/a.json"), "utf8")).toBe("{}");
  await rm(root, { recursive: true });
});
