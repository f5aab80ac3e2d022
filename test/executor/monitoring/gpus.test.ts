import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { beforeEach, describe, expect, test } from "@jest/globals";
import { GpuGauges, GpuSampler, gpuSamplerOf, readGpus, visibleGpus } from "../../../executor/monitoring/gpus.ts";
import type { Log } from "../../../src/log.ts";
import { eventually } from "../../support/eventually.ts";
import { aJobSpec, aRole } from "../../support/job-spec.ts";
import { isRunning } from "../../support/processes.ts";
import { silentLog } from "../../support/silent-log.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const fixture = (name: string) => path.resolve("test/fixtures/nvidia", `${name}.xml`);
const gpusOf = (name: string) => readGpus(readFileSync(fixture(name), "utf8"));

describe("what nvidia-smi tells", () => {
  test("is each GPU's use in per cent, in its order", () => {
    expect(gpusOf("two-gpus")).toEqual([
      { uuid: "GPU-aa01b2c3-0000-4000-8000-000000000001", utilization: 34, memory: 25, bar1Memory: 12.5 },
      { uuid: "GPU-bb01b2c3-0000-4000-8000-000000000002", utilization: 90, memory: 50, bar1Memory: 0 },
    ]);
  });

  test("is what driver 580 prints of an H100 that trains", () => {
    const [gpu, ...others] = gpusOf("h100-training");
    expect(others).toEqual([]);
    expect(gpu).toMatchObject({
      utilization: 100,
      memory: expect.closeTo(31.4, 1),
      bar1Memory: expect.closeTo(19.6, 1),
    });
  });

  test("is not what it says is not available", () => {
    expect(gpusOf("unified-memory")).toEqual([{ uuid: "GPU-aa01b2c3-0000-4000-8000-000000000001", bar1Memory: 0 }]);
  });

  test("is the whole GPU's memory, not that of one of the devices it is cut into", () => {
    const memory = (used: number) => `<fb_memory_usage><total>80 MiB</total><used>${used} MiB</used></fb_memory_usage>`;
    const parts = `<mig_devices><mig_device>${memory(8)}</mig_device></mig_devices>`;
    expect(readGpus(`<gpu><uuid>GPU-a</uuid>${parts}${memory(40)}</gpu>`)).toEqual([{ uuid: "GPU-a", memory: 50 }]);
  });

  test("is no memory where it does not tell both what there is and what is used, or there is none", () => {
    const memory = (total: string, used: string) =>
      `<gpu><uuid>GPU-a</uuid><fb_memory_usage><total>${total}</total><used>${used}</used></fb_memory_usage></gpu>`;
    for (const said of [memory("0 MiB", "0 MiB"), memory("80 MiB", "N/A"), memory("N/A", "8 MiB")])
      expect(readGpus(said)).toEqual([{ uuid: "GPU-a" }]);
    expect(readGpus(memory("12.5 GiB", "2.5 GiB"))).toEqual([{ uuid: "GPU-a", memory: 20 }]);
  });

  test("is nothing where it prints something else", () => {
    expect(readGpus("NVIDIA-SMI has failed because it could not communicate with the NVIDIA driver.")).toEqual([]);
  });

  test.each([
    [undefined, [34, 90]],
    ["1", [90]],
    ["1,0", [34, 90]],
    ["GPU-bb01", [90]],
    ["0,-1,1", [34]],
    ["bb01", []],
    ["", []],
    ["7", []],
  ])("of CUDA_VISIBLE_DEVICES=%s", (visible, utilizations) => {
    expect(visibleGpus(gpusOf("two-gpus"), visible).map(({ utilization }) => utilization)).toEqual(utilizations);
  });
});

test("gauges keep the most of any GPU, and the average of all over time", () => {
  const gauges = new GpuGauges();
  const gpu = (uuid: string, utilization: number) => ({ uuid, utilization });
  gauges.add([gpu("GPU-1", 0), gpu("GPU-2", 90)]);
  expect(gauges.add([gpu("GPU-1", 10), gpu("GPU-2", 20)])).toEqual({
    count: 2,
    unused: 0,
    utilization: { current: 15, max: 90, average: 30 },
    devices: [{ utilization: 10 }, { utilization: 20 }],
  });
});

test("gauges have two digits after the point", () => {
  const gauges = new GpuGauges();
  const gpu = (utilization: number) => [{ uuid: "GPU-1", utilization }];
  gauges.add(gpu(200 / 3));
  expect(gauges.add(gpu(100 / 3)).utilization).toEqual({ current: 33.33, max: 66.67, average: 50 });
  expect(gauges.add(gpu(0)).utilization).toEqual({ current: 0, max: 66.67, average: 33.33 });
});

test("gauges tell each GPU by itself, of which they have what it tells", () => {
  const one = { uuid: "GPU-1", utilization: 99.996, memory: 100 / 3, bar1Memory: 1 };
  expect(new GpuGauges().add([one, { uuid: "GPU-2" }]).devices).toEqual([{ utilization: 100, memory: 33.33 }, {}]);
});

test("gauges count the GPUs that did nothing in any sample, where all tell what they do", () => {
  const gauges = new GpuGauges();
  const [busy, idle] = ["GPU-1", "GPU-2"];
  expect(
    gauges.add([
      { uuid: busy, utilization: 5 },
      { uuid: idle, utilization: 4 },
    ]),
  ).toMatchObject({ unused: 1 });
  expect(
    gauges.add([
      { uuid: busy, utilization: 0 },
      { uuid: idle, utilization: 0 },
    ]),
  ).toMatchObject({ unused: 1 });
  expect(gauges.add([{ uuid: busy, utilization: 0 }, { uuid: idle }])).not.toHaveProperty("unused");
  expect(
    gauges.add([
      { uuid: busy, utilization: 0 },
      { uuid: idle, utilization: 90 },
    ]),
  ).toMatchObject({ unused: 0 });
});

describe("the sampler of a program's GPUs", () => {
  const folder = temporaryFolder();
  let said: string[] = [];
  beforeEach(() => {
    said = [];
  });

  const log: Log = { ...silentLog, warn: (_event, message) => said.push(message) };
  /** A stand-in for nvidia-smi, which counts its runs. */
  const standIn = (script: string) => {
    const file = path.join(folder.path, "nvidia-smi");
    writeFileSync(file, `#!/bin/sh\necho >> ${folder.path}/runs\n${script}\n`);
    chmodSync(file, 0o755);
    return file;
  };
  const runs = () => readFileSync(path.join(folder.path, "runs"), "utf8").length;
  const sampler = (program: string, options: { visible?: string; granted?: number; limitMs?: number } = {}) =>
    new GpuSampler({
      program,
      environment: { PATH: process.env.PATH },
      granted: options.granted ?? 2,
      visible: options.visible,
      intervalMs: 1_000,
      log,
      ...options,
    });

  test("asks nvidia-smi once an interval, and never twice at the same time", async () => {
    const gpus = sampler(standIn(`[ "$*" = "-x -q" ] && sleep 0.2 && cat ${fixture("two-gpus")}`));
    expect(gpus.current).toBeUndefined();
    gpus.look(0);
    gpus.look(5_000);
    await eventually("a sample", () => gpus.current);
    expect(gpus.current).toMatchObject({ count: 2, utilization: { current: 62, max: 90 } });
    gpus.look(999);
    expect(runs()).toBe(1);
    gpus.look(1_000);
    await eventually("the next run", () => runs() === 2);
    gpus.stop();
    expect(said).toEqual([]);
  });

  test("takes the folder that has it, too", async () => {
    standIn(`cat ${fixture("one-gpu")}`);
    const gpus = sampler(folder.path, { granted: 1 });
    gpus.look(0);
    expect(await eventually("a sample", () => gpus.current)).toMatchObject({ count: 1 });
  });

  test("reads all that there is, of the program's own nvidia-smi", async () => {
    const gpus = new GpuSampler({
      ...{ program: "true", environment: { PATH: path.join(folder.path, "bin") } },
      ...{ granted: 1, visible: undefined, intervalMs: 1_000, log },
    });
    mkdirSync(path.join(folder.path, "bin"));
    const long = `/usr/bin/head -c 3000000 /dev/zero | /usr/bin/tr '\\0' ' '; /usr/bin/cat ${fixture("one-gpu")}`;
    renameSync(standIn(long), path.join(folder.path, "bin/true"));
    gpus.look(0);
    expect(await eventually("a sample", () => gpus.current)).toMatchObject({ count: 1 });
  });

  test("says nothing of what fails once the program has ended", async () => {
    const gpus = sampler(path.join(folder.path, "nowhere"));
    gpus.look(0);
    gpus.stop();
    await sleep(100);
    expect([said, gpus.current]).toEqual([[], undefined]);
  });

  test("gives up where the program sees none of those that are shown", async () => {
    const gpus = sampler(standIn(`cat ${fixture("two-gpus")}`), { visible: "7" });
    gpus.look(0);
    await eventually("a line", () => said.length > 0);
    expect(said).toEqual([expect.stringMatching(/shows 2 GPUs, none of CUDA_VISIBLE_DEVICES=7\.$/)]);
  });

  test("measures only what the program sees", async () => {
    const gpus = sampler(standIn(`cat ${fixture("two-gpus")}`), { visible: "1", granted: 1 });
    gpus.look(0);
    const measured = await eventually("a sample", () => gpus.current);
    expect(measured).toMatchObject({ count: 1, utilization: { current: 90 } });
  });

  test.each([
    [
      "shows more than was granted",
      `cat ${fixture("two-gpus")}`,
      1,
      /shows 2 GPUs, and nothing says which 1 of them the task has/,
    ],
    ["fails", "exit 9", 3, /fails with 9, 3 times in a row/],
    ["crashes", "kill -SEGV $$", 3, /ends by SIGSEGV, 3 times in a row/],
    ["hangs, deaf", "trap '' TERM; while :; do sleep 0.05; done", 3, /takes longer than 0\.3 s, 3 times in a row/],
    ["hangs", "exec sleep 60", 3, /takes longer than 0\.3 s, 3 times in a row/],
    ["prints something else", "echo No devices were found", 3, /shows no GPU, 3 times in a row/],
  ])("that %s is asked no more, and one line says so", async (_what, script, asked, words) => {
    const gpus = sampler(standIn(script), { granted: 1, limitMs: 300 });
    for (let nowMs = 0; said.length === 0; nowMs += 1_000) {
      gpus.look(nowMs);
      await sleep(20);
    }
    gpus.look(10_000_000);
    await sleep(100);
    expect(said).toEqual([expect.stringMatching(words)]);
    expect(runs()).toBe(asked);
    expect(gpus.current).toBeUndefined();
  });

  test.each([
    ["there is no such program", "nowhere", /nowhere is not there/],
    ["it may not be run", "text", /text cannot be executed/],
  ])("says at once that %s", async (_what, name, words) => {
    writeFileSync(path.join(folder.path, "text"), "#!/bin/sh\n");
    const gpus = sampler(path.join(folder.path, name));
    gpus.look(0);
    await eventually("a line", () => said.length > 0);
    expect(said).toEqual([expect.stringMatching(words)]);
  });

  test("asks in the program's environment, without the mark of its processes, about the GPUs that it sees and was granted", async () => {
    const resource = { memoryMiB: 1, vcores: 1, others: { "yarn.io/gpu": 1 } };
    const nvidiaSmi = standIn(`env > ${folder.path}/env; cat ${fixture("two-gpus")}`);
    const spec = aJobSpec({ metrics: { gpus: true, nvidiaSmi }, roles: [aRole("worker", 1, { resource })] });
    const of = (own: Readonly<Record<string, string>>) => {
      const environment = { PATH: process.env.PATH ?? "", TONY_PROGRAM_OF: "c_1", MINE: "yes", ...own };
      return gpuSamplerOf(spec, { role: "worker", environment, log });
    };
    const gpus = of({ CUDA_VISIBLE_DEVICES: "1" });
    gpus?.look(0);
    expect(await eventually("a sample", () => gpus?.current)).toMatchObject({ count: 1, utilization: { current: 90 } });
    const variables = readFileSync(path.join(folder.path, "env"), "utf8").split("\n");
    expect(variables).toContain("MINE=yes");
    expect(variables.filter((one) => one.startsWith("TONY_PROGRAM_OF="))).toEqual([]);
    // The job's samples are five seconds apart.
    gpus?.look(4_999);
    await sleep(100);
    expect(runs()).toBe(1);
    of({})?.look(0);
    await eventually("a line", () => said.length > 0);
    expect(said).toEqual([expect.stringContaining("nothing says which 1 of them the task has")]);
  });

  test("counts failures in a row: a GPU that was away for a moment, now and then, goes on being measured", async () => {
    const gpus = sampler(standIn(`[ $(($(wc -l < ${folder.path}/runs) % 2)) = 0 ] && cat ${fixture("one-gpu")}`));
    for (let run = 1; run <= 8; run++) {
      const before = gpus.current;
      await eventually("it is asked, when the run before was heard of", () => {
        gpus.look(run * 1_000);
        return existsSync(path.join(folder.path, "runs")) && runs() === run;
      });
      if (run % 2 === 0) await eventually("another sample", () => gpus.current !== before);
    }
    expect(said).toEqual([]);
  });

  test("shows nothing any more once it has given up", async () => {
    const gpus = sampler(standIn(`[ $(wc -l < ${folder.path}/runs) = 1 ] && cat ${fixture("one-gpu")}`));
    gpus.look(0);
    await eventually("a sample", () => gpus.current);
    for (let nowMs = 1_000; said.length === 0; nowMs += 1_000) {
      gpus.look(nowMs);
      await sleep(20);
    }
    expect(gpus.current).toBeUndefined();
  });

  test("gives up a sample that is under way when the program ends", async () => {
    const gpus = sampler(standIn(`echo $$ > ${folder.path}/pid; exec sleep 60`));
    const pid = () => Number(readFileSync(path.join(folder.path, "pid"), { encoding: "utf8", flag: "a+" }));
    gpus.look(0);
    await eventually("a run", () => pid() > 0);
    gpus.stop();
    await eventually("nothing of it is left", () => !isRunning(pid()));
    gpus.look(5_000);
    await sleep(100);
    expect([runs(), said]).toEqual([1, []]);
  });

  test("is there for a task with GPUs alone, unless it is switched off", () => {
    const resource = { memoryMiB: 1, vcores: 1, others: { "yarn.io/gpu": 1 } };
    const spec = aJobSpec({ roles: [aRole("worker", 1, { resource }), aRole("ps", 1)] });
    const of = (role: string, gpus = true) =>
      gpuSamplerOf({ ...spec, metrics: { ...spec.metrics, gpus } }, { role, environment: {}, log });
    expect(of("worker")).toBeInstanceOf(GpuSampler);
    expect(of("ps")).toBeUndefined();
    expect(of("worker", false)).toBeUndefined();
  });

  test("measures GPUs that the site calls otherwise", () => {
    const resource = { memoryMiB: 1, vcores: 1, others: { "acme.com/a100": 1 } };
    const spec = aJobSpec({ gpuTypes: ["acme.com/a100"], roles: [aRole("worker", 1, { resource })] });
    expect(gpuSamplerOf(spec, { role: "worker", environment: {}, log: silentLog })).toBeInstanceOf(GpuSampler);
  });

  test("finds nvidia-smi in a folder that is not in the container's PATH", async () => {
    mkdirSync(path.join(folder.path, "bin"));
    const gpus = new GpuSampler({
      program: "true",
      environment: { PATH: path.join(folder.path, "bin") },
      granted: 1,
      visible: undefined,
      intervalMs: 0,
      log,
    });
    for (let nowMs = 0; said.length === 0; nowMs += 1) {
      gpus.look(nowMs);
      await sleep(20);
    }
    expect(said).toEqual([expect.stringMatching(/true shows no GPU/)]);
  });
});
