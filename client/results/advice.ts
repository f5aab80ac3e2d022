import { advise, changeWords, labelOf, settingsOf, strongest } from "../../src/advice/advise.ts";
import { type DrElephant, drElephant } from "../../src/advice/dr-elephant.ts";
import { roundingsOf, usualRoundings } from "../../src/advice/roundings.ts";
import { endOf, type Run } from "../../src/advice/run.ts";
import { endedEvents } from "../../src/history/tony/events.ts";
import type { Roundings } from "../../src/job/amounts.ts";
import { costWords } from "../../src/job/cost.ts";
import { gpusOf } from "../../src/job/gpus.ts";
import { type AdviceReason, adviceWords } from "../../src/job/reasons/advice.ts";
import { countWords, durationWords, memoryHoursWords, memoryWords, sizeWords } from "../../src/job/reasons/words.ts";
import { shellWords } from "../../src/job/shell-words.ts";
import type { JobStatus } from "../../src/job/status.ts";
import { readClusterConfiguration } from "../cluster/hadoop-configuration.ts";
import type { SiteSettings } from "../cluster/site-settings.ts";
import type { ClientContext } from "../context.ts";
import { formatTable } from "../output/format.ts";
import type { AdviceJson } from "../printed-json.ts";
import type { Applied } from "./apply-settings.ts";
import type { Runs } from "./runs.ts";

/** As the cluster rounds; for jobs of this machine as an unconfigured cluster does. */
export function roundings(ofCluster: boolean, context: ClientContext): Roundings {
  return ofCluster ? roundingsOf(readClusterConfiguration(context)) : usualRoundings;
}

export function adviceOf(
  runs: Runs,
  sizes: Roundings,
  { gpuTypes, prices }: Pick<SiteSettings, "gpuTypes" | "prices">,
): AdviceJson {
  const [newest] = runs;
  const advice = advise(runs, sizes, prices);
  return {
    name: newest.status.name,
    runs: runs.map((run) => ({
      applicationId: run.status.applicationId,
      submittedAtMs: run.submittedAtMs,
      ...(run.status.outcome === undefined ? {} : { endedAtMs: run.status.outcome.endedAtMs }),
      usage: run.status.usage,
      hasSeries: run.series !== undefined,
    })),
    advice,
    settings: settingsOf(advice),
    drElephant: elephantOf(newest, sizes, gpuTypes),
  };
}

function elephantOf(run: Run, { memoryMiB }: Roundings, gpuTypes: readonly string[]): DrElephant {
  const { roles, tasks } = run.status;
  const types = roles.map((role) => ({ ...role, gpus: gpusOf(role.others, gpuTypes) }));
  const useOf = (task: string) => {
    const { maxMemoryBytes = 0, gpus } = tasks.find((one) => one.task === task) ?? {};
    return { maxMemoryBytes, averageMemoryBytes: 0, ...(gpus === undefined ? {} : { gpus }) };
  };
  return drElephant(types, endedEvents(run.status, endOf(run), useOf), memoryMiB.least);
}

/**
 * The advice in lines for people.
 * @param applied which of it was applied, and to which file
 */
export function adviceLines(
  { name, runs, advice, settings, drElephant: elephant }: AdviceJson,
  nowMs: number,
  applied?: Applied & { readonly file: string },
): string[] {
  return [
    headline(name, runs, nowMs),
    ...pieces(advice),
    `  Dr. Elephant: ${elephantWords(elephant)}`,
    ...(applied === undefined
      ? settingLines(settings, runs.length === 1 ? (runs[0]?.applicationId ?? name) : name)
      : appliedLines(applied)),
  ];
}

function settingLines(settings: AdviceJson["settings"], job: string): string[] {
  if (settings.length === 0) return [];
  return [
    `  paste: ${words(settings)
      .map((setting) => `-conf ${setting}`)
      .join(" ")}`,
    `  write: tony-ts advise ${shellWords([job])} --apply job.xml`,
  ];
}

function appliedLines({ file, written, kept }: Applied & { readonly file: string }): string[] {
  const wrote = written.length === 0 ? [] : [`Wrote ${file}: ${words(written).join(", ")}`];
  const keeps = `${file} keeps ${words(kept).join(", ")}: what is advised asks for no change of it`;
  const all = [...wrote, ...(kept.length === 0 ? [] : [keeps])];
  return all.length === 0 ? [`${file} stays as it is: no setting is to change`] : all;
}

function words(settings: AdviceJson["settings"]): string[] {
  return settings.map(({ key, value }) => shellWords([`${key}=${value}`]));
}

function headline(name: string, runs: AdviceJson["runs"], nowMs: number): string {
  const times = runs.map(({ submittedAtMs, endedAtMs = nowMs }) => endedAtMs - submittedAtMs);
  const [least, most] = [durationWords(Math.min(...times)), durationWords(Math.max(...times))];
  const took = least === most ? least : `${least} to ${most}`;
  const [newest] = runs;
  if (newest === undefined) return name;
  const { cost } = newest.usage;
  const costs = cost === undefined ? "" : costWords(cost);
  if (runs.length > 1) {
    const last = costs === "" ? "" : `; the newest cost ${costs}`;
    return `${name}, last ${countWords(runs.length, "run")} (${took}${last})`;
  }
  const so = newest.endedAtMs === undefined ? `runs for ${took}` : `took ${took}`;
  return `${newest.applicationId}  ${name} (${so}${costs === "" ? "" : `, cost ${costs}`})`;
}

/** The advice as one line at the end of a job that succeeded; undefined where nothing stands out. */
export function adviceLine(status: JobStatus, sizes: Roundings): string | undefined {
  const piece = strongest(advise([{ status, submittedAtMs: status.startedAtMs }], sizes, {}));
  if (piece === undefined) return undefined;
  const setting = `${piece.key}=${piece.value}`;
  const what = piece.code === "more-memory" ? `set ${setting}` : `${setting} would do`;
  const held = `a task held ${sizeWords(piece.maxBytes)} of ${memoryWords(piece.fromMiB)} at most`;
  return `advice: ${what}: ${held} (tony-ts advise ${status.applicationId})`;
}

/** Changed settings are shown in columns; the rest is sentences. */
function pieces(advice: readonly AdviceReason[]): string[] {
  const changes = formatTable(
    advice.flatMap((piece) => ("key" in piece ? [[labelOf(piece), changeWords(piece), adviceWords(piece)]] : [])),
  );
  const others = formatTable(advice.flatMap((piece) => ("key" in piece ? [] : [[labelOf(piece), adviceWords(piece)]])));
  return [...changes, ...others].map((line) => `  ${line}`);
}

function elephantWords({ heuristics, score, usedMiBSeconds, wastedMiBSeconds }: DrElephant): string {
  // The two measures are independent of each other.
  const isSpared = wastedMiBSeconds * 2 >= usedMiBSeconds && usedMiBSeconds > 0;
  const judged = heuristics.map(({ name, severity }) => {
    const why = name === "Task Memory" && severity === "NONE" && isSpared ? " (it spares small containers)" : "";
    return `${name} ${severity}${why}`;
  });
  const wasted = `${memoryHoursWords(wastedMiBSeconds)} wasted of its programs' ${memoryHoursWords(usedMiBSeconds)}`;
  return `${judged.join(", ")}, score ${score}; ${wasted}`;
}
