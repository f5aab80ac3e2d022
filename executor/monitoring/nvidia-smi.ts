import { visibleDevices } from "../../src/machine.ts";

/** What nvidia-smi tells of one GPU, in per cent; what it says is not available is absent. */
export interface Gpu {
  readonly uuid: string;
  readonly utilization?: number;
  readonly memory?: number;
  readonly bar1Memory?: number;
}

/**
 * The GPUs in the XML of `nvidia-smi -x -q`, in its order, which is that of the PCI bus. Its elements are flat and without
 * attributes inside of a `<gpu>`, but for its MIG devices, whose memory is part of its own; the names are those that org.apache.hadoop.yarn's GpuDeviceInformationParser and TonY read.
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

/** Of `725 MiB` or `34 %`; undefined for `N/A`. */
function amount(text: string): number | undefined {
  const [, digits] = /^(\d+(?:\.\d+)?) ?(?:%|[KMG]iB)$/.exec(text) ?? [];
  return digits === undefined ? undefined : Number(digits);
}

function usage(memory: string): number | undefined {
  const [used, total] = [amount(element(memory, "used")), amount(element(memory, "total"))];
  return used === undefined || total === undefined || total === 0 ? undefined : (used / total) * 100;
}
