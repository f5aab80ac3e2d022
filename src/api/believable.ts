/** What an ApplicationMaster takes of what executors say: a program that has its container's secret says what it likes. */
import { isIP } from "node:net";
import type { ExecutorRegistration } from "../job/execution.ts";
import { keptMetrics } from "../job/program-metrics.ts";
import type { ExecutorReport } from "./messages.ts";

const HOST_NAME = /^\w[\w.-]{0,254}$/;
const MOST_PORT = 65_535;
/** Of an address for people, a reason, a path. */
export const MOST_TEXT = 4_096;

/** Why a registration is refused; undefined: it is not. Its host and ports are put into other tasks' commands (`{{spec.worker}}`). */
export function unbelievable({ host, port, ports = {}, tensorboardPort }: ExecutorRegistration): string | undefined {
  if (isIP(host) === 0 && !HOST_NAME.test(host))
    return `its host is not a host name: ${JSON.stringify(host.slice(0, 100))}`;
  const all = [port, tensorboardPort, ...Object.values(ports)];
  return all.every((one) => one >= 0 && one <= MOST_PORT) ? undefined : "it names a port that does not exist";
}

/** The report as it may be kept: of no more values and no longer words than our own executors send. */
export function bounded<Report extends ExecutorReport>(report: Report): Report {
  if (report.type === "child-progress" && report.metrics !== undefined)
    return { ...report, metrics: keptMetrics(report.metrics) };
  if (report.type === "transfer") {
    const { url, reason } = report.transfer;
    return { ...report, transfer: { ...report.transfer, url: shortened(url), reason: shortened(reason) } };
  }
  if (report.type === "service-announced")
    return { ...report, name: shortened(report.name), url: shortened(report.url) };
  return report;
}

export function shortened(text: string): string {
  return text.length <= MOST_TEXT ? text : `${text.slice(0, MOST_TEXT)}…`;
}
