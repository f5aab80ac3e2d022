import { type ChildProcess, execFile } from "node:child_process";
import { statSync } from "node:fs";
import path from "node:path";
import { type Gauge, type GpuDevice, type GpuMetrics, gpusOf, IDLE_GPU_PERCENT } from "../../src/job/gpus.ts";
import { PROGRAM_MARKER } from "../../src/job/launch/launch-command.ts";
import { countWords } from "../../src/job/reasons/words.ts";
import type { JobSpec } from "../../src/job/spec.ts";
import type { Log } from "../../src/log.ts";
import { visibleDevices } from "../../src/machine.ts";

const kinds = ["utilization", "memory", "bar1Memory"] as const;
type Kind = (typeof kinds)[number];

interface Sum {
  readonly samples: number;
  /** Sum of the samples' averages. */
  readonly sum: number;
  readonly max: number;
}

/**
 * The gauges of a task's GPUs over time, combined as TonY's TaskMonitor combines samples: the maximum over all GPUs, and the
 * average of all.
 */
export class GpuGauges {
  readonly #sums = new Map<Kind, Sum>();
  /** GPUs that did something. */
  readonly #used = new Set<string>();

  /** @param gpus the task's; at least one */
  add(gpus: readonly Gpu[]): GpuMetrics {
    const gauges = kinds.flatMap((kind) => {
      const gauge = this.#gauge(
        kind,
        gpus.map((gpu) => gpu[kind]).filter((value) => value !== undefined),
      );
      return gauge === undefined ? [] : [[kind, gauge] as const];
    });
    return { count: gpus.length, ...this.#unused(gpus), ...Object.fromEntries(gauges), devices: gpus.map(deviceOf) };
  }

  #unused(gpus: readonly Gpu[]): Pick<GpuMetrics, "unused"> {
    for (const { uuid, utilization = 0 } of gpus) if (utilization >= IDLE_GPU_PERCENT) this.#used.add(uuid);
    if (gpus.some(({ utilization }) => utilization === undefined)) return {};
    return { unused: gpus.filter(({ uuid }) => !this.#used.has(uuid)).length };
  }

  #gauge(kind: Kind, values: readonly number[]): Gauge | undefined {
    if (values.length === 0) return undefined;
    const current = values.reduce((sum, value) => sum + value, 0) / values.length;
    const before = this.#sums.get(kind) ?? { samples: 0, sum: 0, max: 0 };
    const now = {
      samples: before.samples + 1,
      sum: before.sum + current,
      max: Math.max(before.max, ...values),
    };
    this.#sums.set(kind, now);
    return { current: rounded(current), max: rounded(now.max), average: rounded(now.sum / now.samples) };
  }
}

function deviceOf({ utilization, memory }: Gpu): GpuDevice {
  return {
    ...(utilization !== undefined && { utilization: rounded(utilization) }),
    ...(memory !== undefined && { memory: rounded(memory) }),
  };
}

const rounded = (percent: number) => Math.round(percent * 100) / 100;

/** What nvidia-smi tells of one GPU, in per cent; what it says is not available is absent. */
interface Gpu {
  readonly uuid: string;
  readonly utilization?: number;
  readonly memory?: number;
  readonly bar1Memory?: number;
}

/**
 * The GPUs in the XML of `nvidia-smi -x -q`, in its order, which is that of the PCI bus. Its elements are flat and without attributes inside a
 * `<gpu>`, except its MIG devices, whose memory is part of its own; the names are those that org.apache.hadoop.yarn's GpuDeviceInformationParser
 * and TonY read.
 */
export function readGpus(xml: string): Gpu[] {
  return elements(xml.replaceAll(/<mig_devices>.*?<\/mig_devices>/gs, ""), "gpu").map((gpu) => {
    const utilization = amount(element(element(gpu, "utilization"), "gpu_util"));
    const memory = usage(element(gpu, "fb_memory_usage"));
    const bar1Memory = usage(element(gpu, "bar1_memory_usage"));
    return {
      uuid: element(gpu, "uuid"),
      ...(utilization !== undefined && { utilization }),
      ...(memory !== undefined && { memory }),
      ...(bar1Memory !== undefined && { bar1Memory }),
    };
  });
}

/** Those that CUDA_VISIBLE_DEVICES names, by number or by the beginning of their UUID; without it all. */
export function visibleGpus(gpus: readonly Gpu[], visible: string | undefined): readonly Gpu[] {
  if (visible === undefined) return gpus;
  const named = new Set(visibleDevices(visible));
  return gpus.filter(({ uuid }, number) =>
    [...named].some((name) => (/^\d+$/.test(name) ? Number(name) === number : uuid.startsWith(name))),
  );
}

function elements(xml: string, name: string): string[] {
  return [...xml.matchAll(new RegExp(`<${name}(?: [^>]*)?>(.*?)</${name}>`, "gs"))].map(([, inside = ""]) => inside);
}

const element = (xml: string, name: string): string => elements(xml, name)[0]?.trim() ?? "";

/** The number in `725 MiB` or `34 %`; undefined for `N/A`. */
function amount(text: string): number | undefined {
  const [, digits] = /^(\d+(?:\.\d+)?) ?(?:%|[KMG]iB)$/.exec(text) ?? [];
  return digits === undefined ? undefined : Number(digits);
}

function usage(memory: string): number | undefined {
  const [used, total] = [amount(element(memory, "used")), amount(element(memory, "total"))];
  return used === undefined || total === undefined || total === 0 ? undefined : (used / total) * 100;
}

export interface GpuSamplerOptions {
  /** `tony.gpu-exec-path`: a name, a path from the working directory, or the folder that contains nvidia-smi. */
  readonly program: string;
  /** The program's. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** How many GPUs YARN granted the task. */
  readonly granted: number;
  /** The program's CUDA_VISIBLE_DEVICES. */
  readonly visible: string | undefined;
  readonly intervalMs: number;
  readonly log: Log;
  /** How long nvidia-smi may take. A driver that is not kept loaded takes seconds. */
  readonly limitMs?: number;
}

/** The limit of TonY's GpuDiscoverer. */
const LIMIT_MS = 10_000;
/** In a row; a GPU that is being reset is away for a moment. */
const MOST_FAILURES = 3;
/** Enough for hundreds of processes on sixteen GPUs. */
const MOST_BYTES = 16 * 2 ** 20;
/** Where TonY's GpuDiscoverer looks: containers of NVIDIA's runtime have it in the last of them. */
const OTHER_FOLDERS = ["/usr/bin", "/bin", "/usr/local/nvidia/bin"];

/** Undefined for a task without GPUs, and where they are not to be measured. */
export function gpuSamplerOf(
  { roles, gpuTypes, metrics, timeouts }: Pick<JobSpec, "roles" | "gpuTypes" | "metrics" | "timeouts">,
  { role, environment, log }: { role: string; environment: Readonly<Record<string, string>>; log: Log },
): GpuSampler | undefined {
  const granted = gpusOf(roles.find(({ name }) => name === role)?.resource.others ?? {}, gpuTypes);
  if (granted === 0 || !metrics.gpus) return undefined;
  // Without the marker of the program's processes: it is not one of them, is not suspended with them and does not count towards their
  // memory.
  const { [PROGRAM_MARKER]: _mark, ...own } = environment;
  return new GpuSampler({
    program: metrics.nvidiaSmi,
    environment: own,
    granted,
    visible: environment.CUDA_VISIBLE_DEVICES,
    intervalMs: timeouts.metricsIntervalMs,
    log,
  });
}

/**
 * Samples the GPUs of one program with nvidia-smi, in a process of its own and one at a time. Where that is impossible it logs the
 * reason in one line and does nothing more.
 */
export class GpuSampler {
  readonly #options: GpuSamplerOptions;
  readonly #executable: string;
  readonly #gauges = new GpuGauges();
  #current: GpuMetrics | undefined;
  #asked: ChildProcess | undefined;
  #askedAtMs = Number.NEGATIVE_INFINITY;
  #failures = 0;
  #isOver = false;

  constructor(options: GpuSamplerOptions) {
    this.#options = options;
    this.#executable = executableOf(options.program);
  }

  /** Since the program started; undefined before the first sample. */
  get current(): GpuMetrics | undefined {
    return this.#current;
  }

  /** Takes a sample when one is due. */
  look(nowMs: number): void {
    if (this.#isOver || this.#asked !== undefined || nowMs - this.#askedAtMs < this.#options.intervalMs) return;
    this.#askedAtMs = nowMs;
    this.#ask();
  }

  /** The program has ended: no further sample is taken, and one under way is given up. */
  stop(): void {
    this.#isOver = true;
    this.#asked?.kill("SIGKILL");
  }

  #ask(): void {
    const { environment, limitMs = LIMIT_MS } = this.#options;
    const PATH = [environment.PATH ?? "", ...OTHER_FOLDERS].filter((folder) => folder !== "").join(":");
    this.#asked = execFile(
      this.#executable,
      ["-x", "-q"],
      { env: { ...environment, PATH }, timeout: limitMs, killSignal: "SIGKILL", maxBuffer: MOST_BYTES },
      (error, stdout) => {
        this.#asked = undefined;
        if (this.#isOver) return;
        if (error === null) this.#take(readGpus(stdout));
        else if (error.code === "ENOENT") this.#giveUp(`${this.#executable} is not there`);
        else if (error.code === "EACCES") this.#giveUp(`${this.#executable} cannot be executed`);
        else this.#failed(failureWords(error, limitMs));
      },
    );
  }

  #take(all: readonly Gpu[]): void {
    if (all.length === 0) {
      this.#failed("shows no GPU");
      return;
    }
    const { granted, visible } = this.#options;
    const gpus = visibleGpus(all, visible);
    const shown = `${this.#executable} shows ${countWords(all.length, "GPU")}`;
    if (gpus.length === 0) {
      this.#giveUp(`${shown}, none of CUDA_VISIBLE_DEVICES=${visible}`);
    } else if (gpus.length > granted) {
      this.#giveUp(`${shown}, and nothing says which ${granted} of them the task has`);
    } else {
      this.#failures = 0;
      this.#current = this.#gauges.add(gpus);
    }
  }

  #failed(how: string): void {
    this.#failures += 1;
    if (this.#failures >= MOST_FAILURES) this.#giveUp(`${this.#executable} ${how}, ${MOST_FAILURES} times in a row`);
  }

  #giveUp(why: string): void {
    this.#isOver = true;
    this.#current = undefined;
    this.#options.log.warn("gpus-not-measured", `GPUs are not measured: ${why}.`);
  }
}

/** TonY also accepts the folder. */
function executableOf(program: string): string {
  return statSync(program, { throwIfNoEntry: false })?.isDirectory() ? path.join(program, "nvidia-smi") : program;
}

function failureWords(
  { killed, code, signal }: { killed?: boolean; code?: unknown; signal?: unknown },
  limitMs: number,
): string {
  if (killed === true) return `takes longer than ${limitMs / 1000} s`;
  return code === undefined || code === null ? `ends by ${String(signal)}` : `fails with ${String(code)}`;
}
