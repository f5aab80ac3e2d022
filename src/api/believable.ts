/** What an ApplicationMaster accepts from executors. A program that has its container's secret can send anything. */
import { isIP } from "node:net";
import {
  type ChildExit,
  type ChildProgress,
  type ExecutorRegistration,
  MOST_SUMMARY_BYTES,
  MOST_TRACEBACK_BYTES,
} from "../job/execution.ts";
import type { GpuMetrics } from "../job/gpus.ts";
import { keptMetrics } from "../job/program-metrics.ts";
import type { ExecutorReport, FeedCall, Metrics } from "./messages.ts";

const HOST_NAME = /^\w[\w.-]{0,254}$/;
const MOST_PORT = 65_535;
/** Later generations count on from the one that an executor names, and must remain exact numbers. */
const MOST_GENERATION = 2 ** 31;
/** For an address for people, a reason, a path. */
export const MOST_TEXT = 4_096;
/** For ports by the names that a role gives them. */
const MOST_PORTS = 1_000;
/** For a host and port. */
const MOST_ADDRESS = 300;
/** For one container; no machine has so many. */
const MOST_GPUS = 64;
/** For the calls on the stack of a program's main thread. */
const MOST_CALLS = 100;
const LINE_ENDS = /[\r\n\u0085\u2028\u2029]+/g;
const SIGNAL = /^(SIG[A-Z0-9+-]{1,16})?$/;

/** Why a registration is refused; undefined: it is not. Its host and ports are inserted into other tasks' commands (`{{spec.worker}}`). */
export function unbelievable(registration: ExecutorRegistration): string | undefined {
  const { generation, host, port, ports = {}, tensorboardPort, rejoinAddress } = registration;
  if (isIP(host) === 0 && !HOST_NAME.test(host))
    return `its host is not a host name: ${JSON.stringify(host.slice(0, 100))}`;
  if (generation > MOST_GENERATION) return "it is of a generation that there cannot be";
  if (rejoinAddress.length > MOST_ADDRESS) return "the address that it can be called at is not valid";
  const named = Object.keys(ports);
  if (named.length > MOST_PORTS || named.some((name) => name.length > MOST_ADDRESS))
    return "it names ports that no role has";
  const all = [port, tensorboardPort, ...Object.values(ports)];
  return all.every((one) => one >= 0 && one <= MOST_PORT) ? undefined : "it names a port that does not exist";
}

/** A registration with its program's last report, and its end, limited to what may be kept. */
export function boundedRegistration<Registration extends ExecutorRegistration>(
  registration: Registration,
): Registration {
  const { progress, child } = registration;
  return {
    ...registration,
    ...(progress && { progress: boundedProgress(progress) }),
    ...(child.state === "exited" && { child: { ...child, exit: boundedExit(child.exit) } }),
  };
}

/** The report limited to what may be kept: no more values and no longer texts than our own executors send. */
export function bounded<Report extends ExecutorReport>(report: Report): Report {
  // A value that is not a number has no place in a status or a history, which are JSON.
  if (report.type === "heartbeat" && !areNumbers(report.metrics)) return { ...report, metrics: undefined };
  if (report.type === "child-progress") return { ...report, ...boundedProgress(report) };
  if (report.type === "child-exited") return { ...report, exit: boundedExit(report.exit) };
  if (report.type === "child-place") {
    const { where, lines } = report;
    return { ...report, where: shortened(where), lines: lines.slice(0, MOST_CALLS).map(shortened) };
  }
  if (report.type === "transfer") {
    const { url, reason } = report.transfer;
    return { ...report, transfer: { ...report.transfer, url: shortened(url), reason: shortened(reason) } };
  }
  if (report.type === "service-announced")
    return { ...report, name: shortened(report.name), url: shortened(report.url) };
  return report;
}

function areNumbers(metrics: Metrics | undefined): boolean {
  if (metrics === undefined) return true;
  const { cpuCores, gpus, disk = {} } = metrics;
  return [cpuCores, ...Object.values(disk)].every(Number.isFinite) && (gpus === undefined || areGaugesNumbers(gpus));
}

function areGaugesNumbers({ utilization, memory, bar1Memory, devices = [] }: GpuMetrics): boolean {
  return (
    devices.length <= MOST_GPUS &&
    [utilization, memory, bar1Memory, ...devices].every(
      (gauge) => gauge === undefined || Object.values(gauge).every((value) => Number.isFinite(value)),
    )
  );
}

function boundedExit(exit: ChildExit): ChildExit {
  const { signal, lastLines, traceback, errorSummary, errorOrigin, saidBefore, misnamed } = exit;
  const summary = (text: string) => cut(text, MOST_SUMMARY_BYTES);
  return {
    ...exit,
    signal: SIGNAL.test(signal) ? signal : "SIGUNKNOWN",
    lastLines: lastLines.map(shortened),
    traceback: traceback.slice(-MOST_TRACEBACK_BYTES),
    errorSummary: summary(errorSummary),
    ...(errorOrigin && { errorOrigin: { ...errorOrigin, error: summary(errorOrigin.error) } }),
    ...(saidBefore !== undefined && { saidBefore: summary(saidBefore) }),
    ...(misnamed && {
      misnamed: { ...misnamed, missing: shortened(misnamed.missing), found: shortened(misnamed.found) },
    }),
  };
}

function boundedProgress(progress: ChildProgress): ChildProgress {
  const { metrics, metricSteps, checkpoint } = progress;
  return {
    ...progress,
    ...(metrics && { metrics: keptMetrics(metrics) }),
    ...(metricSteps && { metricSteps: keptMetrics(metricSteps) }),
    ...(checkpoint && { checkpoint: { ...checkpoint, path: shortened(checkpoint.path) } }),
  };
}

/** The same for a task's request to a feed. */
export function boundedCall(call: FeedCall): FeedCall {
  if (call.type === "failed") return { ...call, error: shortened(call.error) };
  return call.type === "mark" ? { ...call, label: shortened(call.label) } : call;
}

/** The first line, shortened: further lines would appear in a report or a log as if they were ours. */
export function shortened(text: string): string {
  return cut(text, MOST_TEXT).replaceAll(LINE_ENDS, " ");
}

function cut(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most)}…`;
}
