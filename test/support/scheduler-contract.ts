import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { Ask } from "../../am/core/state/effects.ts";
import type { AllocatedContainer } from "../../am/core/state/events.ts";
import type { ContainerCommand, Scheduler, SchedulerEvent } from "../../am/scheduler/scheduler.ts";
import { readTokenFile, writeTokenFile } from "../../src/hadoop/security/token-file.ts";
import type { LaunchFile } from "../../src/job/job-file.ts";
import { endedBecause } from "../../src/job/outcome.ts";
import { eventually } from "./eventually.ts";
import { Inbox } from "./inbox.ts";

export interface SchedulerUnderTest {
  readonly scheduler: Scheduler;
  /** Puts a file where the scheduler's containers can have it from. */
  readonly store: (name: string, content: string) => Promise<LaunchFile>;
  readonly dispose: () => Promise<void>;
}

const small = { memoryMiB: 128, vcores: 1, others: {} };

/** What every scheduler does alike, whoever runs the containers. */
export function describeScheduler(name: string, open: () => Promise<SchedulerUnderTest>): void {
  describe(`${name} as a scheduler`, () => {
    let under: SchedulerUnderTest;
    let scheduler: Scheduler;
    let folder = "";
    let priority = 0;
    const events = new Inbox<SchedulerEvent>();
    /** Whether a call of the scheduler is on the stack. */
    let calling = false;
    const withinCalls: string[] = [];

    beforeAll(async () => {
      folder = mkdtempSync(path.join(tmpdir(), "tony-contract-"));
      chmodSync(folder, 0o777);
      under = await open();
      scheduler = under.scheduler;
      await scheduler.start({ host: "127.0.0.1", port: 1, trackingUrl: "" }, (event) => {
        if (calling) withinCalls.push(event.type);
        events.put(event);
      });
    });
    afterAll(async () => {
      await scheduler.close();
      await under.dispose();
      rmSync(folder, { recursive: true });
    });

    const call = (act: () => void): void => {
      calling = true;
      act();
      calling = false;
    };
    const next = <T extends SchedulerEvent["type"]>(type: T, fits: (event: SchedulerEvent & { type: T }) => boolean) =>
      events.next(
        (event): event is SchedulerEvent & { type: T } =>
          event.type === type && fits(event as SchedulerEvent & { type: T }),
      );
    const completed = (containerId: string) =>
      next("container-completed", (event) => event.containerId === containerId);
    const anAsk = (count: number, changes: Partial<Ask> = {}): Ask => {
      priority += 1;
      return { role: "worker", priority, resource: small, count, hosts: [], racks: [], ...changes };
    };

    async function allocated(ask: Ask): Promise<AllocatedContainer[]> {
      call(() => scheduler.ask([ask]));
      const containers: AllocatedContainer[] = [];
      while (containers.length < ask.count) {
        const event = await next("containers-allocated", (candidate) =>
          candidate.containers.some((container) => container.priority === ask.priority),
        );
        containers.push(...event.containers);
      }
      return containers;
    }

    async function running(script: string, changes: Partial<ContainerCommand> = {}): Promise<string> {
      const [container] = await allocated(anAsk(1));
      const containerId = container?.containerId ?? "";
      const command = {
        containerId,
        environment: { OUTPUT: path.join(folder, containerId) },
        commands: [script.replaceAll("$", "\\$")],
        files: [],
        credentials: writeTokenFile({ tokens: [], secrets: new Map([["word", Buffer.from("hush")]]) }),
        ...changes,
      };
      call(() => scheduler.launch([command]));
      return containerId;
    }

    const outputOf = (containerId: string, suffix = "") =>
      eventually(`output of ${containerId}`, async () => {
        const file = path.join(folder, `${containerId}${suffix}`);
        return existsSync(file) ? readFileSync(file) : undefined;
      });

    test("registering says how much a container may have at most", async () => {
      const event = await next("am-registered", () => true);
      expect(event.attempt).toBe(1);
      expect(event.maximum?.memoryMiB).toBeGreaterThanOrEqual(small.memoryMiB);
      await next("nodes-changed", () => true);
    });

    test("an ask brings that many containers of its priority, none smaller than asked", async () => {
      const ask = anAsk(2);
      const containers = await allocated(ask);

      expect(containers.map((container) => container.priority)).toEqual([ask.priority, ask.priority]);
      expect(new Set(containers.map(({ containerId }) => containerId)).size).toBe(2);
      for (const { resource } of containers) expect(resource.memoryMiB).toBeGreaterThanOrEqual(small.memoryMiB);
      call(() => scheduler.release(containers.map(({ containerId }) => containerId)));
    });

    test("an ask that is withdrawn before it was met brings nothing", async () => {
      const ask = anAsk(3);
      call(() => scheduler.ask([ask]));
      call(() => scheduler.ask([{ ...ask, count: 0 }]));
      const [later] = await allocated(anAsk(1));

      const given = events.rest.flatMap((event) => (event.type === "containers-allocated" ? event.containers : []));
      expect(given.filter((container) => container.priority === ask.priority)).toEqual([]);
      call(() => scheduler.release([later?.containerId ?? ""]));
    });

    test("a container runs its command with its files, its environment and its credentials, and says how it ended", async () => {
      const file = await under.store("given.txt", "content");
      const script =
        "cat given.txt > $OUTPUT; cat $HADOOP_TOKEN_FILE_LOCATION > $OUTPUT.tokens; echo $OWN > <LOG_DIR>/own; exit 7";
      const environment = { OWN: "value of \\$HOME" };
      const containerId = await running(script, {
        files: [file],
        environment: { ...environment, OUTPUT: `${folder}/a` },
      });

      await next("launch-succeeded", (event) => event.containerId === containerId);
      expect(await completed(containerId)).toMatchObject({ exitStatus: 7 });
      expect((await outputOf("a")).toString()).toBe("content");
      expect(readTokenFile(await outputOf("a", ".tokens")).secrets.get("word")).toEqual(Buffer.from("hush"));
    });

    test("a container knows who and where it is", async () => {
      const script = "echo $CONTAINER_ID $NM_HOST $PWD $LOG_DIRS > $OUTPUT.part; mv $OUTPUT.part $OUTPUT; sleep 600";
      const containerId = await running(script);
      const [id, host, work, logs] = (await outputOf(containerId)).toString().trim().split(" ");

      expect(id).toBe(containerId);
      expect(host).toMatch(/^127\./);
      expect(path.isAbsolute(work ?? "")).toBe(true);
      expect(path.isAbsolute(logs ?? "")).toBe(true);
      call(() => scheduler.stop(containerId));
      await completed(containerId);
    });

    test("a process that a signal ended is reported as 128 and the signal's number", async () => {
      const containerId = await running("kill -KILL $$");
      expect(await completed(containerId)).toMatchObject({ exitStatus: 137 });
    });

    test("a container that is stopped ends with all its processes, as −105", async () => {
      const script =
        "trap '' TERM; (trap '' TERM; echo $BASHPID > $OUTPUT.part; mv $OUTPUT.part $OUTPUT; sleep 600; sleep 600) & sleep 600; sleep 600";
      const containerId = await running(script);
      const pid = Number((await outputOf(containerId)).toString());
      call(() => scheduler.stop(containerId));

      expect(await completed(containerId)).toMatchObject({ exitStatus: -105 });
      await eventually("the end of its processes", async () => !existsSync(`/proc/${pid}`));
    });

    test("a container that is given back ends as −100, started or not", async () => {
      const containerId = await running("touch $OUTPUT; sleep 600");
      await outputOf(containerId);
      const [unused] = await allocated(anAsk(1));
      call(() => scheduler.release([containerId, unused?.containerId ?? ""]));

      expect(await completed(containerId)).toMatchObject({ exitStatus: -100 });
      expect(await completed(unused?.containerId ?? "")).toMatchObject({ exitStatus: -100 });
    });

    test("a file that is not what was submitted keeps its container from running, and is named", async () => {
      const file = await under.store("changed.txt", "content");
      const containerId = await running("touch $OUTPUT", { files: [{ ...file, modificationTimeMs: 1 }] });
      const end = await events.next(
        (event) =>
          (event.type === "launch-failed" && event.containerId === containerId) ||
          (event.type === "container-completed" && event.containerId === containerId),
      );

      expect(JSON.stringify(end)).toContain("changed.txt");
      expect(existsSync(path.join(folder, containerId))).toBe(false);
    });

    test("whoever asks is still in charge", async () => {
      expect(await scheduler.confirm()).toBe(true);
    });

    test("nothing is ever told within the call that caused it", () => {
      expect(withinCalls).toEqual([]);
    });

    test("more than a container may have is refused, for waiting would not bring it", async () => {
      call(() => scheduler.ask([anAsk(1, { resource: { ...small, memoryMiB: 2 ** 30 } })]));
      const { message } = await next("ask-refused", () => true);
      expect(message).toMatch(/memory/i);
    });

    test("at the end what still runs is ended too", async () => {
      const containerId = await running("echo $$ > $OUTPUT.part; mv $OUTPUT.part $OUTPUT; sleep 600");
      const pid = Number((await outputOf(containerId)).toString());
      expect(existsSync(`/proc/${pid}`)).toBe(true);
      const outcome = endedBecause("succeeded", { code: "tasks-ended", succeeded: 1, tasks: 1, onlyTracked: false });
      await scheduler.finish({ ...outcome, endedAtMs: Date.now() }, "");
      expect(await eventually("the end of its processes", async () => !existsSync(`/proc/${pid}`))).toBe(true);
    });
  });
}
