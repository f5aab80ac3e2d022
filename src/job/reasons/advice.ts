import { costWords } from "../cost.ts";
import { type ReasonOf, reason } from "./reason.ts";
import {
  coreHoursWords,
  countWords,
  durationWords,
  gpuHoursWords,
  memoryHoursWords,
  memoryWords,
  sizeWords,
} from "./words.ts";

/** The suggested value of a setting, and the peak memory of the role's tasks: the median, the 95th percentile and the maximum. */
const memory = {
  role: "text",
  key: "text",
  fromMiB: "number",
  toMiB: "number",
  value: "text",
  p50Bytes: "number",
  p95Bytes: "number",
  maxBytes: "number",
  tasks: "number",
} as const;

/** The same for cores, over all measurements. */
const cores = {
  role: "text",
  key: "text",
  from: "number",
  to: "number",
  value: "text",
  p50: "number",
  p95: "number",
  max: "number",
} as const;

/** The saved cost, where there are prices. */
const saved = { savedAmount: "number?", currency: "text?" } as const;

/** What earlier runs of a job suggest for the next one. */
export const advice = {
  "less-memory": reason(
    { ...memory, savedMiBSeconds: "number", ...saved },
    (it) => `${peaks(it)}${savedWords(memoryHoursWords(it.savedMiBSeconds), it)}`,
  ),
  "more-memory": reason({ ...memory, ranOut: "text?", virtual: "flag?" }, (it) => {
    const what = it.virtual ? "used more virtual memory than YARN allows" : "ran out of memory";
    const why = it.ranOut === undefined ? "it may run out of memory" : `${it.ranOut} ${what}`;
    return `${peaks(it)}: ${why}`;
  }),
  "memory-fits": reason(
    { role: "text", askedMiB: "number", p50Bytes: "number", p95Bytes: "number", maxBytes: "number", tasks: "number" },
    (it) => `${memoryWords(it.askedMiB)} of memory fit: ${peaks(it)}`,
  ),
  "less-cores": reason(
    { ...cores, savedVcoreSeconds: "number", ...saved },
    (it) => `${use(it)}${savedWords(coreHoursWords(it.savedVcoreSeconds), it)}`,
  ),
  "more-cores": reason(cores, (it) => `${use(it)}: it takes them from other containers where nothing limits it`),
  "cores-fit": reason(
    { role: "text", asked: "number", p50: "number", p95: "number", max: "number" },
    (it) => `${countWords(it.asked, "core")} ${it.asked === 1 ? "fits" : "fit"}: ${use(it)}`,
  ),
  "less-gpus": reason(
    {
      ...{ role: "text", key: "text", from: "number", to: "number", value: "text", tasks: "number" },
      savedGpuSeconds: "number",
      ...saved,
    },
    (it) => {
      const used = it.to === 0 ? "any of its GPUs" : `more than ${it.to} of its ${it.from} GPUs`;
      const who = it.tasks === 1 ? "its task did not use" : `none of ${it.tasks} tasks used`;
      return `${who} ${used} at any time${savedWords(gpuHoursWords(it.savedGpuSeconds).join(""), it)}`;
    },
  ),
  thin: reason(
    { role: "text", runs: "number", ranMs: "number" },
    ({ role, runs, ranMs }) =>
      `no advice: not enough data: ${runs === 0 ? "no run" : `only ${countWords(runs, "run")}, ${durationWords(ranMs)} in all,`} ` +
      `succeeded with a ${role} that ran for more than 1 min; 3 such runs are needed, or 10 min in all`,
  ),
  unmeasured: reason({ role: "text" }, () => "no advice: its use was not measured"),
  unseen: reason(
    {},
    () =>
      "cores, GPUs and slow tasks cannot be judged: this needs the series in a job's history (tony.history.location)",
  ),
  "slow-task": reason(
    { task: "text", host: "text?", percent: "number" },
    ({ host, percent }) => `ran at ${percent} % of the others' rate over its whole run${on(host)}`,
  ),
  "late-task": reason(
    { task: "text", host: "text?", ranMs: "number", othersMs: "number" },
    ({ host, ranMs, othersMs }) => `ran ${durationWords(ranMs)}, the others ${durationWords(othersMs)}${on(host)}`,
  ),
  "idle-gpu": reason(
    { task: "text", host: "text?", percent: "number", othersPercent: "number" },
    ({ host, percent, othersPercent }) =>
      `its GPUs were idle for ${percent} % of the time, the others' for ${othersPercent} %${on(host)}`,
  ),
  "idle-gpus": reason(
    { role: "text", percent: "number" },
    ({ percent }) => `the GPUs of half of its tasks were idle for ${percent} % of the time or longer`,
  ),
  "queue-time": reason(
    { lostMs: "number", ofMs: "number" },
    ({ lostMs, ofMs }) => `${durationWords(lostMs)} of ${durationWords(ofMs)} until its AM ran`,
  ),
  "start-time": reason(
    {
      ...{ lostMs: "number", ofMs: "number" },
      ...{ containersMs: "number?", filesMs: "number?", registrationMs: "number?", programsMs: "number?" },
    },
    (it) =>
      `${durationWords(it.lostMs)} of ${durationWords(it.ofMs)} from its AM's start until all programs ran: ${startParts(it)}`,
  ),
  "kept-containers": reason(
    { tasks: "number", vcoreSeconds: "number", ofVcoreSeconds: "number" },
    ({ tasks, vcoreSeconds, ofVcoreSeconds }) => {
      const percent = Math.round((vcoreSeconds / ofVcoreSeconds) * 100);
      const whose = tasks === 1 ? "1 task whose program" : `${tasks} tasks whose programs`;
      const hours = `(${hoursOf(vcoreSeconds)} of ${hoursOf(ofVcoreSeconds)})`;
      return `${percent} % of its core·h ${hours} were held for ${whose} had ended: containers are kept for a restart until all have ended`;
    },
  ),
  "restart-time": reason(
    { times: "number", lostMs: "number", againMs: "number", ofMs: "number" },
    ({ times, lostMs, againMs, ofMs }) =>
      `${countWords(times, "restart")} took ${durationWords(lostMs)} of ${durationWords(ofMs)}, and ${durationWords(againMs)} of work had to be repeated`,
  ),
};

/** `12` */
function hoursOf(vcoreSeconds: number): string {
  return coreHoursWords(vcoreSeconds).replace(/ .*/, "");
}

export type AdviceReason = ReasonOf<typeof advice>;

export function adviceWords(piece: AdviceReason): string {
  return advice[piece.code].words(piece);
}

function peaks(it: {
  readonly tasks: number;
  readonly p50Bytes: number;
  readonly p95Bytes: number;
  readonly maxBytes: number;
}) {
  const others = it.tasks === 1 ? "" : ` (p95 ${sizeWords(it.p95Bytes)}, p50 ${sizeWords(it.p50Bytes)})`;
  return `the most that any task held is ${sizeWords(it.maxBytes)}${others}`;
}

function startParts(it: {
  readonly containersMs?: number;
  readonly filesMs?: number;
  readonly registrationMs?: number;
  readonly programsMs?: number;
}): string {
  const { containersMs, filesMs = 0, registrationMs = 0, programsMs = 0 } = it;
  if (containersMs === undefined) return "containers, files, registration";
  const parts = { containers: containersMs, files: filesMs, registration: registrationMs, programs: programsMs };
  return Object.entries(parts)
    .map(([part, tookMs]) => `${part} ${durationWords(tookMs)}`)
    .join(", ");
}

/** ` · saves 12 GiB·h, 0.05 EUR, a run` */
function savedWords(what: string, it: { readonly savedAmount?: number; readonly currency?: string }): string {
  const { savedAmount: amount, currency } = it;
  const cost =
    amount === undefined ? "" : `, ${costWords(currency === undefined ? { amount } : { amount, currency })},`;
  return ` · saves ${what}${cost} a run`;
}

function use(it: { readonly p50: number; readonly p95: number; readonly max: number }): string {
  return `p95 of processor use ${it.p95} (p50 ${it.p50}, most ${it.max})`;
}

function on(host: string | undefined): string {
  return host === undefined ? "" : `, on ${host}`;
}
