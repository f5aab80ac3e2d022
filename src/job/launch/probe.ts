import { formatHostPort, type HostPort, parseHostPort } from "../../hadoop/conf/values.ts";
import { literal, object, string } from "../shape.ts";
import { escapeForLaunchScript } from "./launch-script-text.ts";

/** Tells an ApplicationMaster that there is no job: it registers with one of these ResourceManagers (`host:port,…`) and ends. */
export const PROBE_VARIABLE = "TONY_PROBE";

/** The variable's value, escaped for a container's environment. */
export function probeEnvironment(resourceManagers: readonly HostPort[]): Record<string, string> {
  return { [PROBE_VARIABLE]: escapeForLaunchScript(resourceManagers.map(formatHostPort).join(",")) };
}

export function parseProbe(value: string): HostPort[] {
  return value.split(",").flatMap((address) => parseHostPort(address, 0) ?? []);
}

/** The probe's findings on its node. */
export interface ProbeReport {
  readonly host: string;
  /** Of Node: `v20.19.0`. */
  readonly version: string;
  /** In Node's terms: `x64`. */
  readonly architecture: string;
  /** `2.36`; empty where the node has another C library. */
  readonly glibc: string;
  /** What the ResourceManager's scheduler counts on a node. */
  readonly counted: "all" | "memory";
  /** The loopback address that the node's name resolves to on the node itself, if any. */
  readonly loopback?: string;
}

const probeReport = object<ProbeReport>({
  required: {
    host: string,
    version: string,
    architecture: string,
    glibc: string,
    counted: literal("all", "memory"),
  },
  optional: { loopback: string },
});

/** In the form of the diagnostics of the probe's application. */
export function formatProbeReport(report: ProbeReport): string {
  return JSON.stringify(report);
}

/** Throws a ShapeError or a SyntaxError when the text is not a report. */
export function parseProbeReport(diagnostics: string): ProbeReport {
  return probeReport(JSON.parse(diagnostics), "the probe's report");
}
