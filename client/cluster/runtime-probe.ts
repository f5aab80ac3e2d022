import { sleep } from "../../src/hadoop/clock.ts";
import { writeTokenFile } from "../../src/hadoop/security/token-file.ts";
import type { ApplicationReport } from "../../src/hadoop/yarn/records.ts";
import { escapeForLaunchScript, runtimeWord } from "../../src/job/launch-command.ts";
import { nodeProblem } from "../../src/job/node-release.ts";
import { hasEnded } from "../applications/applications.ts";
import type { ClientContext } from "../context.ts";
import { ContentCache } from "../shipping/cache.ts";
import { HashMemo, localCacheFolder } from "../shipping/hash-memo.ts";
import { chooseRuntime, provideRuntime } from "../shipping/runtime.ts";
import { ship } from "../shipping/shipping.ts";
import { stagingRoot } from "../submission/staging.ts";
import { localResource } from "../submission/submission-context.ts";
import type { Cluster } from "./cluster.ts";
import type { Finding } from "./finding.ts";

/** What the probe exits with where the runtime starts, after it has said its version: no other cause of a container's end gives this number. */
const soundExit = 37;
const probe = `console.error(process.version); process.exit(${soundExit})`;
const limitMs = 60_000;
/** Smallest that an AM of ours gets. */
const memoryMiB = 512;

/**
 * Starts the runtime in a container, as an application of its own that ends at once: the only proof that a node can load it. The
 * application shows as FAILED, because it never registers.
 */
export async function probeRuntime(
  cluster: Cluster,
  options: { readonly queue: string; readonly stagingDir: string | undefined; readonly nodeBinary: string | undefined },
  context: ClientContext,
): Promise<Finding> {
  const subject = "nodes";
  const { resourceManager } = cluster;
  const { files, node } = await shipRuntime(cluster, options, context);
  const { id } = await resourceManager.newApplication();
  await resourceManager.submit({
    id,
    name: "tony-ts doctor (ends as FAILED by design)",
    type: "TONY",
    queue: options.queue,
    maxAppAttempts: 1,
    masterResource: { memoryMiB, vcores: 1, others: {} },
    masterLaunch: {
      localResources: Object.fromEntries(files.map((file) => [file.link, localResource(file)])),
      environment: {},
      commands: [`exec ${escapeForLaunchScript(runtimeWord(node))} -e '${probe}' 2><LOG_DIR>/stderr`],
      credentials: writeTokenFile({ tokens: [], secrets: new Map() }),
    },
  });
  const report = await endOf(id, cluster, context);
  if (report === undefined) {
    await resourceManager.kill(id, { diagnostics: "the probe took too long" });
    return {
      subject,
      state: "remark",
      found: `no container of ${memoryMiB} MiB was free within ${limitMs / 1000} s`,
      remedy: "try again when the queue has room",
    };
  }
  return probeFinding(subject, report.diagnostics);
}

/** @param diagnostics YARN's, of the probe's container */
export function probeFinding(subject: string, diagnostics: string): Finding {
  const said = firstLines(diagnostics);
  // YARN writes an exit code, of whatever kind, for every container that it tried to start.
  if (!/exit ?code: -?\d+/i.test(diagnostics)) {
    const found = `YARN refused the probe: ${said}`;
    return { subject, state: "wrong", found, remedy: "jobs would be refused likewise: choose another queue (--queue)" };
  }
  if (!diagnostics.includes(`exitCode: ${soundExit}`)) {
    const found = `the runtime does not start in a container: ${said}`;
    return { subject, state: "wrong", found, remedy: "set tony.node.binary to a Node that the nodes can load" };
  }
  const problem = nodeProblem(said);
  if (problem === undefined)
    return { subject, state: "well", found: `the runtime starts in a container: Node ${said}` };
  const [found = problem, remedy = ""] = problem.split(": ");
  return { subject, state: "wrong", found, remedy };
}

async function shipRuntime(
  cluster: Cluster,
  { stagingDir, nodeBinary }: { readonly stagingDir: string | undefined; readonly nodeBinary: string | undefined },
  { environment, now }: ClientContext,
) {
  const { fileSystems, user } = cluster;
  const { items, node } = provideRuntime(await chooseRuntime({ setting: nodeBinary, running: process.execPath }));
  const cache = new ContentCache({
    fileSystems,
    stagingRoot: await stagingRoot(fileSystems, { stagingDir }),
    user: user.name,
  });
  const memo = await HashMemo.open(localCacheFolder(environment), now);
  const shipped = await ship(items, { fileSystems, cache, memo });
  return { files: shipped.map(({ file }) => file), node };
}

/** Undefined when it has not ended in time. */
async function endOf(
  id: string,
  { resourceManager }: Cluster,
  { now }: ClientContext,
): Promise<ApplicationReport | undefined> {
  const startedAtMs = now();
  while (now() - startedAtMs < limitMs) {
    const report = await resourceManager.report(id);
    if (hasEnded(report)) return report;
    await sleep(200);
  }
  return undefined;
}

/** What the container's stderr said, out of YARN's long text. */
function firstLines(diagnostics: string): string {
  const told = /Last \d+ bytes of stderr :\s*([\s\S]*?)\n\s*\n/.exec(diagnostics)?.[1]?.trim();
  return told === undefined || told === "" ? diagnostics.trim().slice(0, 300) : told;
}
