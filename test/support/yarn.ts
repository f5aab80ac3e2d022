import type { Endpoint } from "../../src/hadoop/rpc/endpoints.ts";
import { parseEndpoint } from "../../src/hadoop/rpc/endpoints.ts";
import type {
  ApplicationId,
  ApplicationReport,
  ApplicationState,
  LaunchContext,
} from "../../src/hadoop/yarn/records.ts";
import type { ResourceManagerClient } from "../../src/hadoop/yarn/resource-manager.ts";
import type { SubmissionContext } from "../../src/hadoop/yarn/submission.ts";

const pollMs = 50;

export function endpointsOf(address: string): readonly Endpoint[] {
  const endpoint = parseEndpoint(address);
  if (endpoint === undefined) throw new Error(`${address} is no host:port`);
  return [endpoint];
}

/** Asks again and again until the answer is there; the limit is generous, because machines under test are slow. */
export async function eventually<Answer>(
  what: string,
  ask: () => Promise<Answer | undefined>,
  limitMs = 60_000,
): Promise<Answer> {
  const deadline = performance.now() + limitMs;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    if (performance.now() > deadline) throw new Error(`${what}: not within ${limitMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
}

/** Waits for one of the states. */
export function applicationIn(
  client: ResourceManagerClient,
  id: ApplicationId,
  ...states: readonly ApplicationState[]
): Promise<ApplicationReport> {
  return eventually(`${id} in ${states.join(" or ")}`, async () => {
    const report = await client.report(id);
    return states.includes(report.state) ? report : undefined;
  });
}

/** Shell commands in a container, with nothing localised. */
export function shell(...commands: readonly string[]): LaunchContext {
  return { localResources: {}, environment: {}, commands, credentials: new Uint8Array(0) };
}

export const smallest = { memoryMiB: 128, vcores: 1, others: {} } as const;

/** An application whose master is a sleeping shell that never registers. */
export function sleeper(id: ApplicationId, changes: Partial<SubmissionContext> = {}): SubmissionContext {
  return {
    id,
    name: "sleeper",
    queue: "default",
    masterLaunch: shell("exec sleep 300"),
    masterResource: smallest,
    maxAppAttempts: 1,
    ...changes,
  };
}
