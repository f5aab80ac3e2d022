import type { ChildExit, ChildReport, ExecutorRegistration, MissedMeeting } from "../job/execution.ts";
import type { Gauge, GpuMetrics } from "../job/gpu-metrics.ts";
import { transferKinds, transferStates } from "../job/status.ts";
import { decodeHello, decodeLogChunk, encodeLogChunk } from "./common-codec.ts";
import type { ExecutorMessage, ExecutorReport, Metrics } from "./messages.ts";
import { decodeStopReason, encodeStopReason } from "./stop-reason-codec.ts";
import { type Codec, toBuffer, toBytes, toNumber, type tony, v1 } from "./wire.ts";

type WireExecutorMessage = tony.v1.ExecutorMessage.$Properties;
type WireState = tony.v1.Child.State;

const state = { none: 1, running: 2, exited: 3 } as const satisfies Record<ChildReport["state"], WireState>;

const missedMeetings = { closed: 1, empty: 2 } as const satisfies Record<MissedMeeting, tony.v1.MissedMeeting>;

export const executorMessage: Codec<ExecutorMessage> = {
  serialize({ attempt, generation, body }) {
    return toBuffer(v1.ExecutorMessage.encode({ attempt, generation, ...encodeReport(body) }).finish());
  },
  deserialize(bytes) {
    const wire = v1.ExecutorMessage.decode(bytes);
    return { attempt: wire.attempt ?? 0, generation: wire.generation ?? 0, body: decodeReport(wire) };
  },
};

function encodeReport(body: ExecutorReport): WireExecutorMessage {
  switch (body.type) {
    case "register":
      return {
        register: { hello: body.hello, ...encodeRegistration(body.registration), attemptProof: body.attemptProof },
      };
    case "heartbeat":
      return { heartbeat: { sentAtMs: body.sentAtMs, ...(body.metrics && { metrics: body.metrics }) } };
    case "child-place":
      return { childPlace: { where: body.where, isExchange: body.isExchange, lines: [...body.lines] } };
    case "child-started":
      return { childStarted: { pid: body.pid, atMs: body.atMs } };
    case "child-exited":
      return { childExited: encodeExit(body.exit) };
    case "child-progress":
      return {
        childProgress: {
          step: body.step,
          atMs: body.atMs,
          ...(body.checkpoint && {
            checkpoint: body.checkpoint.path,
            checkpointStep: body.checkpoint.step,
            checkpointAtMs: body.checkpoint.atMs,
          }),
          ...(body.metrics && { metrics: body.metrics }),
        },
      };
    case "log-chunk":
      return { logChunk: encodeLogChunk(body.chunk) };
    case "transfer":
      return { transfer: body.transfer };
    case "service-announced":
      return { serviceAnnounced: { name: body.name, url: body.url } };
    case "goodbye":
      return { goodbye: { reason: body.reason } };
    case "unknown":
      return {};
  }
}

function decodeReport(wire: WireExecutorMessage): ExecutorReport {
  const {
    register,
    heartbeat,
    childStarted,
    childExited,
    childProgress,
    logChunk,
    serviceAnnounced,
    goodbye,
    transfer,
  } = wire;
  if (register) return decodeRegister(register, wire.generation ?? 0);
  if (heartbeat) return decodeHeartbeat(heartbeat);
  if (wire.childPlace) {
    const { where, isExchange, lines } = wire.childPlace;
    return { type: "child-place", where: where ?? "", isExchange: isExchange ?? false, lines: lines ?? [] };
  }
  if (childStarted) return { type: "child-started", ...decodeStarted(childStarted) };
  if (childExited) return { type: "child-exited", exit: decodeExit(childExited) };
  if (childProgress) return decodeProgress(childProgress);
  if (transfer) return decodeTransfer(transfer);
  if (logChunk) return { type: "log-chunk", chunk: decodeLogChunk(logChunk) };
  if (serviceAnnounced)
    return { type: "service-announced", name: serviceAnnounced.name ?? "", url: serviceAnnounced.url ?? "" };
  if (goodbye) return { type: "goodbye", reason: goodbye.reason ?? "" };
  return { type: "unknown" };
}

function encodeRegistration(registration: ExecutorRegistration): tony.v1.Register.$Properties {
  const { task, containerId, host, port, ports, tensorboardPort, rejoinAddress, child } = registration;
  const reserved = { port, ...(ports && { ports }), tensorboardPort };
  return { task, containerId, host, ...reserved, rejoinAddress, child: encodeChild(child) };
}

function decodeRegister(wire: tony.v1.Register.$Properties, generation: number): ExecutorReport {
  return {
    type: "register",
    hello: decodeHello(wire.hello),
    registration: {
      task: wire.task ?? "",
      containerId: wire.containerId ?? "",
      generation,
      host: wire.host ?? "",
      port: wire.port ?? 0,
      ...(wire.ports && Object.keys(wire.ports).length > 0 && { ports: wire.ports }),
      tensorboardPort: wire.tensorboardPort ?? 0,
      rejoinAddress: wire.rejoinAddress ?? "",
      child: decodeChild(wire.child),
    },
    attemptProof: toBytes(wire.attemptProof),
  };
}

function encodeChild(child: ChildReport): tony.v1.Child.$Properties {
  if (child.state === "none") return { state: state.none };
  const { suspendedMs = 0 } = child;
  return child.state === "running"
    ? { state: state.running, started: { pid: child.pid, atMs: child.startedAtMs }, suspendedMs }
    : { state: state.exited, exited: encodeExit(child.exit), suspendedMs };
}

function decodeChild(wire: tony.v1.Child.$Properties | null | undefined): ChildReport {
  const suspendedMs = toNumber(wire?.suspendedMs);
  const suspended = suspendedMs > 0 ? { suspendedMs } : {};
  if (wire?.state === state.running) {
    const { pid, atMs } = decodeStarted(wire.started ?? {});
    return { state: "running", pid, startedAtMs: atMs, ...suspended };
  }
  if (wire?.state === state.exited) return { state: "exited", exit: decodeExit(wire.exited ?? {}), ...suspended };
  return { state: "none" };
}

function decodeStarted(wire: tony.v1.ChildStarted.$Properties): { readonly pid: number; readonly atMs: number } {
  return { pid: wire.pid ?? 0, atMs: toNumber(wire.atMs) };
}

function encodeExit(exit: ChildExit): tony.v1.ChildExited.$Properties {
  const { stopReason, missedMeeting, ...rest } = exit;
  return {
    ...rest,
    lastLines: [...exit.lastLines],
    ...(stopReason && { stopReason: encodeStopReason(stopReason) }),
    ...(missedMeeting && { missedMeeting: missedMeetings[missedMeeting] }),
  };
}

function decodeExit(wire: tony.v1.ChildExited.$Properties): ChildExit {
  return {
    exitCode: wire.exitCode ?? 0,
    signal: wire.signal ?? "",
    signalOfChild: wire.signalOfChild ?? false,
    atMs: toNumber(wire.atMs),
    ...(wire.stopReason && { stopReason: decodeStopReason(wire.stopReason) }),
    failedToStart: wire.failedToStart ?? false,
    refusedBySystem: wire.refusedBySystem ?? false,
    lastLines: wire.lastLines ?? [],
    traceback: wire.traceback ?? "",
    errorSummary: wire.errorSummary ?? "",
    peerConnectionLost: wire.peerConnectionLost ?? false,
    ...decodeMissedMeeting(wire.missedMeeting),
    portTaken: wire.portTaken ?? false,
    outOfMemory: wire.outOfMemory ?? false,
    peakMemoryBytes: toNumber(wire.peakMemoryBytes),
  };
}

function decodeMissedMeeting(wire: tony.v1.ChildExited.$Properties["missedMeeting"]): Pick<ChildExit, "missedMeeting"> {
  if (wire === missedMeetings.closed) return { missedMeeting: "closed" };
  return wire === missedMeetings.empty ? { missedMeeting: "empty" } : {};
}

function decodeHeartbeat(wire: tony.v1.Heartbeat.$Properties): ExecutorReport {
  const sentAtMs = toNumber(wire.sentAtMs);
  return wire.metrics
    ? { type: "heartbeat", sentAtMs, metrics: decodeMetrics(wire.metrics) }
    : { type: "heartbeat", sentAtMs };
}

function decodeMetrics(wire: tony.v1.Metrics.$Properties): Metrics {
  return {
    memoryBytes: toNumber(wire.memoryBytes),
    maxMemoryBytes: toNumber(wire.maxMemoryBytes),
    averageMemoryBytes: toNumber(wire.averageMemoryBytes),
    cpuCores: wire.cpuCores ?? 0,
    cpuMs: toNumber(wire.cpuMs),
    processes: wire.processes ?? 0,
    ...(wire.gpus && { gpus: decodeGpus(wire.gpus) }),
  };
}

function decodeGpus({ count, utilization, memory, bar1Memory }: tony.v1.GpuMetrics.$Properties): GpuMetrics {
  return {
    count: count ?? 0,
    ...(utilization && { utilization: decodeGauge(utilization) }),
    ...(memory && { memory: decodeGauge(memory) }),
    ...(bar1Memory && { bar1Memory: decodeGauge(bar1Memory) }),
  };
}

function decodeGauge({ current, max, average }: tony.v1.Gauge.$Properties): Gauge {
  return { current: current ?? 0, max: max ?? 0, average: average ?? 0 };
}

function decodeProgress(wire: tony.v1.ChildProgress.$Properties): ExecutorReport {
  const progress = {
    type: "child-progress",
    step: toNumber(wire.step),
    atMs: toNumber(wire.atMs),
    ...(Object.keys(wire.metrics ?? {}).length > 0 && { metrics: { ...wire.metrics } }),
  } as const;
  if (!wire.checkpoint) return progress;
  const { checkpoint: path, checkpointStep, checkpointAtMs } = wire;
  return { ...progress, checkpoint: { path, step: toNumber(checkpointStep), atMs: toNumber(checkpointAtMs) } };
}

/** One of an unknown kind or state reads as `unknown`. */
function decodeTransfer(wire: tony.v1.Transfer.$Properties): ExecutorReport {
  const what = transferKinds.find((kind) => kind === wire.what);
  const state = transferStates.find((one) => one === wire.state);
  if (what === undefined || state === undefined) return { type: "unknown" };
  return {
    type: "transfer",
    transfer: {
      what,
      state,
      url: wire.url ?? "",
      files: toNumber(wire.files),
      bytes: toNumber(wire.bytes),
      step: toNumber(wire.step),
      atMs: toNumber(wire.atMs),
      reason: wire.reason ?? "",
    },
  };
}
