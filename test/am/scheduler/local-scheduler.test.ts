import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, describe, expect, test } from "@jest/globals";
import { SocketGpuClaims } from "../../../am/scheduler/local/gpu-claims.ts";
import { LocalScheduler } from "../../../am/scheduler/local/local-scheduler.ts";
import type { SchedulerEvent } from "../../../am/scheduler/scheduler.ts";
import { eventually } from "../../support/eventually.ts";
import { Inbox } from "../../support/inbox.ts";
import { describeScheduler } from "../../support/scheduler-contract.ts";
import { turn } from "../../support/stepped-clock.ts";

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true });
});

describe("the GPUs of this machine", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "tony-local-gpus-"));
  folders.push(folder);
  const claims = `tony-ts-test-${process.pid}`;
  const scheduler = new LocalScheduler({
    ownContainerId: "container_1795305600000_0002_01_000001",
    firstNumber: 2,
    node: { host: "127.0.0.1", port: 0, httpAddress: "" },
    folder,
    user: "alice",
    machine: { memoryMiB: 4096, vcores: 2, gpus: ["10", "9", "3"] },
    gpuTypes: ["yarn.io/gpu", "nvidia.com/gpu"],
    claims: new SocketGpuClaims(claims),
  });
  const events = new Inbox<SchedulerEvent>();
  const ask = (role: string, count: number, gpus: number) =>
    scheduler.ask([
      {
        role,
        priority: role.length,
        count,
        resource: { memoryMiB: 128, vcores: 1, others: { "yarn.io/gpu": gpus } },
        hosts: [],
        racks: [],
      },
    ]);
  const allocated = async () => {
    const { containers } = await events.next(
      (event): event is Extract<SchedulerEvent, { type: "containers-allocated" }> =>
        event.type === "containers-allocated",
    );
    return containers.map(({ containerId }) => containerId);
  };
  const seen = (containerId: string) => {
    const file = path.join(folder, containerId, "logs/gpus");
    // The shell makes the file before it writes to it.
    return eventually("the devices that a container sees", () => {
      return existsSync(file) ? readFileSync(file, "utf8") || undefined : undefined;
    });
  };
  const launch = (containerId: string) =>
    scheduler.launch([
      {
        containerId,
        files: [],
        environment: {},
        commands: ['echo "[$CUDA_VISIBLE_DEVICES]" > <LOG_DIR>/gpus; exec sleep 60'],
        credentials: Buffer.alloc(0),
      },
    ]);
  afterAll(() => scheduler.close());

  test("are each container's own, and go to another when it has ended", async () => {
    await scheduler.start(undefined, (event) => events.put(event));
    ask("a", 1, 2);
    ask("bb", 2, 1);
    const [pair = "", single = ""] = await allocated();
    for (const id of [pair, single]) launch(id);
    expect([await seen(pair), await seen(single)]).toEqual(["[10,9]\n", "[3]\n"]);
    scheduler.stop(pair);
    const [next = ""] = await allocated();
    launch(next);
    expect(await seen(next)).toBe("[10]\n");
  });

  test("are not given to a container while another job has them", async () => {
    const otherJob = new SocketGpuClaims(claims);
    expect(await otherJob.claim(["10", "9", "3"], 3)).toEqual(["9"]);
    ask("ee", 1, 1);
    const given = allocated();
    expect(await Promise.race([given, sleep(300, "nothing yet")])).toBe("nothing yet");
    otherJob.giveBack(["9"]);
    const [free = ""] = await given;
    launch(free);
    expect(await seen(free)).toBe("[9]\n");
  });

  test("are not enough for what asks for more, in words of this machine", async () => {
    ask("ccc", 1, 4);
    expect(await events.next((event) => event.type === "ask-refused")).toMatchObject({
      message: "ccc asks for 4 GPUs, this machine has 3 GPUs",
    });
  });
});

describe("the memory of this machine", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "tony-local-memory-"));
  folders.push(folder);

  async function started() {
    const scheduler = new LocalScheduler({
      ownContainerId: "container_1795305600000_0003_01_000001",
      firstNumber: 2,
      node: { host: "127.0.0.1", port: 0, httpAddress: "" },
      folder,
      user: "alice",
      machine: { memoryMiB: 1_024, vcores: 2, gpus: [] },
      gpuTypes: [],
    });
    const events: SchedulerEvent[] = [];
    await scheduler.start(undefined, (event) => events.push(event));
    const ask = (priority: number, count: number) => {
      const resource = { memoryMiB: 1_024, vcores: 1, others: {} };
      return { role: `r${priority}`, priority, count, resource, hosts: [], racks: [] };
    };
    const given = () => events.flatMap((event) => (event.type === "containers-allocated" ? event.containers : []));
    const left = () => events.flatMap((event) => (event.type === "headroom-changed" ? event.available.memoryMiB : []));
    return { scheduler, events, ask, given, left };
  }
  const settled = async () => {
    for (let turns = 0; turns < 10; turns += 1) await turn();
  };

  test("goes to the lowest priority number first, and to the next when that has given it back", async () => {
    const { scheduler, ask, given } = await started();
    scheduler.ask([ask(7, 1), ask(3, 1)]);
    await settled();
    expect(given()).toMatchObject([{ priority: 3, containerId: "container_1795305600000_0003_01_000002" }]);
    scheduler.release(given().map(({ containerId }) => containerId));
    await settled();
    expect(given()).toMatchObject([{ priority: 3 }, { priority: 7, containerId: expect.stringMatching(/_000003$/) }]);
    await scheduler.close();
  });

  test("is told when it has changed, and not again", async () => {
    const { scheduler, ask, left } = await started();
    scheduler.ask([ask(1, 0)]);
    await settled();
    scheduler.ask([ask(1, 0)]);
    await settled();
    expect(left()).toEqual([1_024]);
    scheduler.ask([ask(1, 1)]);
    await settled();
    expect(left()).toEqual([1_024, 0]);
    await scheduler.close();
  });

  test("goes to nobody once the job has ended", async () => {
    const { scheduler, ask, given } = await started();
    scheduler.ask([ask(1, 2)]);
    await settled();
    await scheduler.finish();
    await settled();
    expect(given()).toHaveLength(1);
    await scheduler.close();
  });

  test.each([
    { why: "a file is not what was submitted", link: "gone.txt", isFolder: true, nodeAtFault: false },
    { why: "this machine has no place for it", link: undefined, isFolder: false, nodeAtFault: true },
  ])("is free again where a launch fails because $why", async ({ link, isFolder, nodeAtFault }) => {
    const { scheduler, events, ask, given } = await started();
    scheduler.ask([ask(1, 1)]);
    await settled();
    const [{ containerId = "" } = {}] = given();
    if (!isFolder) writeFileSync(path.join(folder, containerId), "");
    const facts = { sizeBytes: 1, modificationTimeMs: 1, type: "FILE", visibility: "APPLICATION" } as const;
    const files = link === undefined ? [] : [{ link, url: `file://${folder}/${link}`, ...facts }];
    scheduler.launch([{ containerId, files, environment: {}, commands: ["true"], credentials: Buffer.alloc(0) }]);
    await eventually("that it failed", () => events.some(({ type }) => type === "launch-failed"));
    expect(events).toContainEqual(expect.objectContaining({ type: "launch-failed", containerId, nodeAtFault }));
    scheduler.ask([ask(2, 1)]);
    await settled();
    expect(given()).toMatchObject([{ priority: 1 }, { priority: 2 }]);
    await scheduler.close();
    rmSync(path.join(folder, containerId), { recursive: true });
  });
});

describeScheduler("this machine", async () => {
  const folder = mkdtempSync(path.join(tmpdir(), "tony-local-scheduler-"));
  const scheduler = new LocalScheduler({
    ownContainerId: "container_1795305600000_0001_01_000001",
    firstNumber: 2,
    node: { host: "127.0.0.1", port: 0, httpAddress: "" },
    folder: path.join(folder, "containers"),
    user: "alice",
    machine: { memoryMiB: 4096, vcores: 2, gpus: [] },
    gpuTypes: ["yarn.io/gpu"],
  });
  return {
    scheduler,
    async store(name, content) {
      const file = path.join(folder, name);
      writeFileSync(file, content);
      const { size, mtimeMs } = statSync(file);
      const modificationTimeMs = Math.floor(mtimeMs);
      const url = `file://${file}`;
      return { link: name, url, sizeBytes: size, modificationTimeMs, type: "FILE", visibility: "APPLICATION" };
    },
    async dispose() {
      rmSync(folder, { recursive: true });
    },
  };
});
