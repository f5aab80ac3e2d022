import { masterDelays } from "./master.ts";
import { type ReasonOf, reason } from "./reason.ts";
import { countWords, durationWords, listWords, memoryHoursWords, settingWords } from "./words.ts";

/** What a silent ResourceManager means for the job. */
export const askedWithoutEnd = "programs keep running, and whatever needs containers waits; the AM keeps asking";

/** What a job waits for. */
export const waitReasons = {
  am: reason({}, () => "the AM"),
  manager: reason({}, () => "the ResourceManager's answer"),
  registration: reason({}, () => "the ResourceManager's answer to the registration"),
  containers: reason(
    { role: "text", missing: "number", instances: "number", ask: "text", settings: "settings?" },
    ({ role, missing, instances, ask }) => {
      const containers = instances === 1 ? "1 container" : `${missing} of ${instances} containers`;
      return `${containers} of ${role}: ${ask}`;
    },
  ),
  joiners: reason(
    { role: "text", tasks: "names", running: "number", instances: "number", least: "number" },
    ({ role, tasks, running, instances, least }) => {
      const what = tasks.length === 1 ? "a container" : "containers";
      const may = running < least ? `which needs ${least}` : `which may be as few as ${least}`;
      return `${what} for ${listWords(tasks)}: ${role} runs with ${running} of ${instances}, ${may}`;
    },
  ),
  rest: reason({ setting: "setting" }, () => "the rest of the gang, which has enough tasks to start"),
  executors: reason({ role: "text", tasks: "names" }, ({ tasks }) => `the executors of ${listWords(tasks)}`),
  programs: reason({ role: "text", tasks: "names" }, ({ tasks }) => `the programs of ${listWords(tasks)}`),
  stage: reason({ roles: "names" }, ({ roles }) => `the stage of ${listWords(roles)}`),
  gang: reason({ setting: "setting" }, () => "the rest of the gang"),
  departure: reason({ tasks: "names" }, ({ tasks }) => `a checkpoint, before ${listWords(tasks)} must leave`),
  "pause-of-requests": reason({}, () => "the pause before containers are asked for again"),
  "pause-of-restart": reason({}, () => "the pause before the restart"),
  journal: reason({}, () => "the journal"),
  trial: reason({ containers: "number", setting: "setting" }, ({ containers }) => {
    return `the next trial for ${countWords(containers, "container")} that ${containers === 1 ? "has" : "have"} none`;
  }),
  proposal: reason({ trial: "number" }, ({ trial }) => `Optuna's proposal for trial ${trial}`),
  role: reason({ role: "text", failsJob: "flag" }, ({ role }) => `the end of ${role}`),
  others: reason(
    { tasks: "names", setting: "setting" },
    ({ tasks }) => `the end of ${listWords(tasks)}, as the main tasks are done`,
  ),
  verdict: reason({}, () => "the verdict on the failure"),
  end: reason({}, () => "the end"),
  "outcome-journal": reason({}, () => "the outcome to be written to the journal"),
  "programs-end": reason({ uploads: "flag" }, ({ uploads }) =>
    uploads ? "the programs to stop and their files to be uploaded" : "the programs to stop",
  ),
  unregistration: reason({}, () => "the ResourceManager to accept the end"),
};

export type WaitReason = ReasonOf<typeof waitReasons>;

/** Why the awaited thing is missing. */
export const delayReasons = {
  "manager-says": reason({ words: "text" }, ({ words }) => words),
  "manager-unreachable": reason({ endpoints: "text", error: "text" }, ({ endpoints, error }) => {
    return `${endpoints} cannot be reached from the AM: ${error}`;
  }),
  "asked-without-end": reason({}, () => askedWithoutEnd),
  "label-missing": reason({ label: "text" }, ({ label }) => neverUnlessNodesJoin(`no node has label ${label}`)),
  "nodes-labelled": reason({}, () =>
    neverUnlessNodesJoin("every node has a label and serves only requests for that label"),
  ),
  "container-too-large": reason({ label: "text?", sizes: "text" }, ({ label, sizes }) => {
    const where = `no node of ${placeWords(label)} is large enough for one container, whatever else runs there`;
    return neverUnlessNodesJoin(`${where}; they have ${sizes}`);
  }),
  "gang-too-large": reason(
    { label: "text?", has: "text", asked: "text", master: "text?" },
    ({ label, has, asked, master }) => {
      const there = `${placeWords(label)} has ${has} in all`;
      return neverUnlessNodesJoin(`${there}, the job asks for ${asked}${masterWords(master)}`);
    },
  ),
  "gang-over-queue": reason(
    { queue: "text", label: "text?", has: "text", asked: "text", master: "text?" },
    ({ queue, label, has, asked, master }) => {
      const most = `queue ${queue} may have at most ${has} of ${placeWords(label)}`;
      return `waiting will not help unless the queue may have more: ${most}, the job asks for ${asked}${masterWords(master)}`;
    },
  ),
  "gang-too-many": reason(
    { label: "text?", room: "number", asked: "number", master: "text?" },
    ({ label, room, asked, master }) => {
      const such = countWords(room, "such container");
      const beside = master === undefined ? "" : ` beside the job's AM (${master})`;
      return neverUnlessNodesJoin(
        `the nodes of ${placeWords(label)} have room for ${such} in all${beside}, the job asks for ${asked}`,
      );
    },
  ),
  "held-meanwhile": reason(
    { containers: "number", amount: "text", memoryMiBSeconds: "number", contended: "flag" },
    ({ containers, amount, memoryMiBSeconds, contended }) => {
      const cost = `meanwhile the job holds ${countWords(containers, "container")} (${amount}) that do nothing: ${memoryHoursWords(memoryMiBSeconds)} so far`;
      return contended ? `${cost}; others took what it gave back before, so it holds them for a shorter time` : cost;
    },
  ),
  "held-nothing": reason({ everyMs: "number" }, ({ everyMs }) => {
    const often = `about every ${durationWords(everyMs)}`;
    return `until then the job holds no container but its AM's; it asks again when nodes join or change, and ${often}`;
  }),
  "no-usable-node": reason({ label: "text?", away: "names?" }, ({ label, away = [] }) => {
    return `${placeWords(label)} has no usable node${away.length === 0 ? "" : `: ${listWords(away, 4)}`}`;
  }),
  "queue-full": reason(
    { queue: "text", left: "text", room: "number", short: "names" },
    ({ queue, left, room, short }) =>
      `in queue ${queue} ${left} are free for this job: too ${fewWords(short)}${room === 0 ? "" : ` for more than ${room} of them`}`,
  ),
  "not-given": reason({ label: "text?", nodes: "number" }, ({ label, nodes }) => {
    return `YARN has given none of them yet on the ${countWords(nodes, "usable node")} of ${placeWords(label)}`;
  }),
  "nodes-short": reason(
    { label: "text?", nodes: "number", room: "number", short: "names", free: "names" },
    ({ label, nodes, room, short, free }) => {
      const where = `the ${countWords(nodes, "node")} of ${placeWords(label)} that may run them`;
      const lack = short.length === 0 ? `no node has enough of everything at once` : `too ${fewWords(short)}`;
      const forMore = room === 0 ? "" : ` for more than ${room}`;
      return `${where}: ${lack}${forMore}; free: ${listWords(free, 3)}`;
    },
  ),
  "held-by": reason(
    { kind: "text", own: "text?", holders: "names", unseen: "text?", everywhere: "flag" },
    ({ kind, own, holders, unseen, everywhere }) => {
      const all = [
        ...(own === undefined ? [] : [`this job (${own})`]),
        ...holders,
        ...(unseen === undefined ? [] : [`applications that you may not see (${unseen})`]),
      ];
      return `${kind}${everywhere ? " on all nodes of the cluster" : ""} in use: ${listWords(all, 4)}`;
    },
  ),
  "size-refused": reason({ largest: "text?" }, ({ largest }) => {
    const has = largest === undefined ? "" : `: the largest has ${largest}`;
    return `no registered node is large enough${has}`;
  }),
  "no-place": reason({}, () => "YARN has no place for them at present that the job's placement constraints allow"),
  "place-constrained": reason(
    { setting: "setting" },
    ({ setting }) => `they may be placed only where ${settingWords(setting)} allows`,
  ),
  "nodes-excluded": reason({ hosts: "names" }, ({ hosts }) => `avoided after failures: ${listWords(hosts)}`),
  "nodes-leaving": reason({ hosts: "names" }, ({ hosts }) => `being taken out of the cluster: ${listWords(hosts)}`),
  "checkpoint-awaited": reason(
    { hosts: "names" },
    ({ hosts }) =>
      `${listWords(hosts)} ${hosts.length === 1 ? "is" : "are"} being taken out of the cluster; the programs were told`,
  ),
  "files-on-their-way": reason({}, () => "their files are being copied to the nodes; then their executors register"),
  "time-to-stop": reason(
    { graceMs: "number" },
    ({ graceMs }) => `they have ${durationWords(graceMs)} to stop by themselves`,
  ),
  "stage-before": reason({ roles: "names" }, ({ roles }) => {
    return `its containers are asked for when ${listWords(roles)} ${roles.length === 1 ? "is" : "are"} done`;
  }),
  "gang-incomplete": reason({ times: "number" }, ({ times }) => {
    return `the gang was not complete in time and gave back what it held, ${countWords(times, "time")} so far`;
  }),
  "gangs-before": reason({}, () => "other gangs of the job that have part of their containers go first"),
  restarts: reason(
    { times: "number", why: "text" },
    ({ times, why }) => `after ${countWords(times, "restart")}: ${why}`,
  ),
  "journal-failed": reason({ message: "text" }, ({ message }) => `it cannot be written: ${message}`),
  "group-ended": reason(
    { group: "text", role: "text", limitMs: "number", setting: "setting" },
    ({ group, role, limitMs, setting }) =>
      `group ${group} has ended, and ${role} may run on for ${durationWords(limitMs)} (${settingWords(setting)})`,
  ),
  /** Their programs have ended, possibly because of YARN. */
  "end-unexplained": reason(
    { tasks: "names" },
    ({ tasks }) => `${listWords(tasks)} ended by a signal, and YARN may yet say that it ended the container`,
  ),
  "tasks-unaccounted": reason({ tasks: "number" }, ({ tasks }) => {
    return `${countWords(tasks, "task")} ${tasks === 1 ? "is" : "are"} not yet accounted for`;
  }),
  ...masterDelays,
};

export type DelayReason = ReasonOf<typeof delayReasons>;

export function delayWords(delay: DelayReason): string {
  return delayReasons[delay.code].words(delay);
}

function masterWords(master: string | undefined): string {
  return master === undefined ? "" : `, including ${master} for its AM`;
}

/** `little memory`, `few cores and GPUs` */
function fewWords(kinds: readonly string[]): string {
  const counted = kinds.filter((kind) => kind !== "memory").join(" and ");
  if (counted === "") return "little memory";
  return kinds.includes("memory") ? `little memory and too few ${counted}` : `few ${counted}`;
}

/** `the cluster`, `label gpu` */
function placeWords(label = ""): string {
  return label === "" ? "the cluster" : `label ${label}`;
}

function neverUnlessNodesJoin(why: string): string {
  return `waiting will not help unless nodes join: ${why}`;
}
