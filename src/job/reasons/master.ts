import { type ReasonOf, reason } from "./reason.ts";
import { countWords, listWords, memoryWords } from "./words.ts";

/** Why an application's AM does not run yet, from what the ResourceManager reports to its client. */
export const masterDelays = {
  "application-being-stored": reason({}, () => "the ResourceManager is storing the application"),
  "application-not-scheduled": reason({}, () => "the scheduler has not accepted the application yet"),
  "am-registers-again": reason(
    {},
    () =>
      "the ResourceManager has restarted or failed over, and the AM, which is still running, has not registered with it again yet",
  ),
  "no-node-running": reason({}, () => "the cluster has no running NodeManager"),
  "am-limit-of-queue": reason(
    { queue: "text", limitMiB: "number?", usedMiB: "number?" },
    ({ queue, limitMiB, usedMiB }) =>
      `queue ${queue} is at its limit for AMs${limits(limitMiB, usedMiB)}${whoIsIn(queue)}`,
  ),
  "am-limit-of-user": reason(
    { queue: "text", user: "text", limitMiB: "number?" },
    ({ queue, user, limitMiB }) =>
      `${user} is at the limit for AMs of one user in queue ${queue}${limits(limitMiB)}${whoIsIn(queue)}`,
  ),
  "am-queue-full": reason(
    { queue: "text", label: "text?", usedPercent: "number?", limitPercent: "number?" },
    ({ queue, label, usedPercent, limitPercent }) => {
      const place = label === undefined ? "the cluster" : `label ${label}`;
      const shares =
        usedPercent === undefined ? "" : ` (${usedPercent} % of ${place}, its limit is ${limitPercent ?? 100} %)`;
      return `queue ${queue} has no room for the AM${shares}${whoIsIn(queue)}`;
    },
  ),
  "am-not-placed": reason(
    {
      queue: "text",
      label: "text?",
      host: "text?",
      free: "text?",
      active: "number?",
      usable: "number?",
      rooms: "names?",
      lost: "names?",
      unhealthy: "names?",
      leaving: "names?",
      earlier: "names?",
    },
    ({ queue, label, host, free, active, usable, rooms, earlier = [], ...away }) => {
      const where = label === undefined ? `in queue ${queue}` : `on a node with label ${label}`;
      const yet = `no container for the AM ${where} yet`;
      if (active === undefined || usable === undefined || rooms === undefined)
        return host === undefined
          ? yet
          : `${yet}: the last node that was looked at, ${host}, has ${free ?? "nothing"} free`;
      const may = `${usable} of ${countWords(active, "active node")} may run it; free there: ${listWords(rooms, 3)}`;
      const before =
        earlier.length === 0 ? [] : [`earlier jobs of the queue wait for containers, too: ${listWords(earlier, 3)}`];
      const [first = may, ...others] = [...before, may, ...awayWords(away)];
      return [`${yet}: ${first}`, ...others].join("; ");
    },
  ),
  "am-no-node": reason(
    {
      queue: "text",
      label: "text?",
      active: "number",
      labels: "names",
      lost: "names",
      unhealthy: "names",
      leaving: "names?",
    },
    ({ queue, label, active, labels, ...away }) => {
      const which = label === undefined ? "without a label" : `with label ${label}`;
      const others = labels.length === 0 ? "" : ` (label ${listWords(labels)})`;
      return [
        `the AM may run only on a node ${which} in queue ${queue}, and none is active: ${countWords(active, "active node")}${others}`,
        ...awayWords(away),
      ].join("; ");
    },
  ),
  "am-being-started": reason({}, () => "the AM has its container, which is being started"),
  "am-starting": reason({}, () => "the AM is starting"),
  "am-not-registered": reason(
    { looksAt: "text" },
    ({ looksAt }) =>
      `the AM has its container and has not registered yet: it looks for the ResourceManager at ${looksAt}`,
  ),
  "am-waits-in-queue": reason({ queue: "text" }, ({ queue }) => `waiting in queue ${queue}`),
};

interface AwayNodes {
  readonly lost?: readonly string[];
  readonly unhealthy?: readonly string[];
  readonly leaving?: readonly string[];
}

/** Nodes that exist but cannot be used. */
function awayWords({ lost = [], unhealthy = [], leaving = [] }: AwayNodes): string[] {
  const words = (state: string, hosts: readonly string[]) =>
    hosts.length === 0 ? [] : [`${state}: ${listWords(hosts)}`];
  return [
    ...words("lost", lost),
    ...words("unhealthy", unhealthy),
    ...words("being taken out of the cluster", leaving),
  ];
}

/** ` (820 MiB, in use 819 MiB)` */
function limits(limitMiB: number | undefined, usedMiB?: number): string {
  if (limitMiB === undefined) return "";
  return ` (${memoryWords(limitMiB)}${usedMiB === undefined ? "" : `, in use ${memoryWords(usedMiB)}`})`;
}

function whoIsIn(queue: string): string {
  return `; tony-ts list --queue ${queue} shows what runs there`;
}

/** Why an application's AMs failed, when YARN started no further one. */
export const masterReasons = {
  "am-silent": reason({ attempts: "number" }, ({ attempts }) => `the AM stopped responding${times(attempts)}`),
  "am-exceeded-memory": reason(
    { used: "text", limit: "text", virtual: "flag", attempts: "number" },
    ({ used, limit, virtual, attempts }) =>
      `the AM used ${used} of the ${limit} of ${virtual ? "virtual " : ""}memory that YARN allows${times(attempts)}`,
  ),
  "am-said": reason({ words: "text", attempts: "number" }, ({ words, attempts }) => `${words}${times(attempts)}`),
  "am-not-prepared": reason(
    { attempts: "number" },
    ({ attempts }) => `the AM's container could not be prepared${times(attempts)}`,
  ),
  "am-ended": reason({ attempts: "number" }, ({ attempts }) => `the AM's container ended${times(attempts)}`),
};

export type MasterReason = ReasonOf<typeof masterReasons>;

export function masterWords(master: MasterReason): string {
  return masterReasons[master.code].words(master);
}

function times(attempts: number): string {
  return attempts > 1 ? `, ${attempts} times` : "";
}
