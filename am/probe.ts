import { lookup } from "node:dns/promises";
import { readFileSync } from "node:fs";
import { isIP } from "node:net";
import { TonyError } from "../src/errors.ts";
import { formatHostPort, type HostPort } from "../src/hadoop/conf/values.ts";
import { isObject } from "../src/hadoop/json.ts";
import { readTokenFile } from "../src/hadoop/security/token-file.ts";
import { SchedulerClient } from "../src/hadoop/yarn/scheduler.ts";
import { formatProbeReport } from "../src/job/launch/probe.ts";
import { inTime } from "./bounded.ts";
import type { MasterSettings } from "./settings.ts";
import { masterToken } from "./tokens/credentials.ts";

/** Calls are repeated until then: a network that lets nothing through shows as this time-out. */
const limitMs = 20_000;

/**
 * What `tony-ts doctor` starts instead of a job: registers and finishes with success, with what it found as its diagnostics. Only on a node can
 * it show that the node can load the runtime and reach the ResourceManager.
 */
export async function runProbe(
  resourceManagers: readonly HostPort[],
  { tokenFile, host }: MasterSettings,
): Promise<void> {
  const token = masterToken(readTokenFile(readFileSync(tokenFile)), tokenFile);
  const scheduler = new SchedulerClient({ endpoints: resourceManagers, token });
  const work = async () => {
    const { counted } = await scheduler.register({ host, rpcPort: 0, trackingUrl: "" });
    const { version, arch } = process;
    const loopback = isIP(host) === 0 ? await loopbackOf(host) : undefined;
    const isOneMachine = (await Promise.all(resourceManagers.map((one) => loopbackOf(one.host)))).some(Boolean);
    const diagnostics = formatProbeReport({
      ...{ host, version, architecture: arch, glibc: glibcVersion(), counted },
      ...(loopback !== undefined && !isOneMachine && { loopback }),
    });
    await scheduler.finish({ status: "SUCCEEDED", diagnostics, trackingUrl: "" });
  };
  try {
    await inTime(limitMs, "registering", work());
  } catch (cause) {
    const where = resourceManagers.map(formatHostPort).join(", ");
    throw new TonyError(`${host} cannot register with the ResourceManager at ${where}`, {
      code: "PROBE_FAILED",
      cause,
    });
  } finally {
    scheduler.close();
  }
}

/**
 * The address to which a name resolves on this node, if that is loopback: on Debian the node's own name does; a ResourceManager's does in a
 * cluster of one machine.
 */
async function loopbackOf(host: string): Promise<string | undefined> {
  const address = await lookup(host).then(
    (found) => found.address,
    () => undefined,
  );
  return address?.startsWith("127.") || address === "::1" ? address : undefined;
}

/** The node's glibc version, as Node found it; empty where it is not glibc. */
function glibcVersion(): string {
  const report: unknown = process.report.getReport();
  const header = isObject(report) ? report.header : undefined;
  const version = isObject(header) ? header.glibcVersionRuntime : undefined;
  return typeof version === "string" ? version : "";
}
