import { durationWords } from "./reasons/words.ts";
import type { Cause, GenerationSummary, JobOutcome, JobStatus, Takeover } from "./status.ts";

/** The phases of a job's time, in order, each with a name for people. */
export const timelinePhases = {
  queued: "until its ApplicationMaster ran",
  starting: "until that had asked for containers",
  containers: "until all tasks of a generation had theirs",
  files: "until their files were in all of them",
  registration: "until all executors were ready",
  programs: "until all programs ran",
  running: "while they ran",
  restarting: "from the end of a generation to the begin of the next one",
} as const;
export type TimelinePhase = keyof typeof timelinePhases;

export interface TimelineSpan {
  readonly phase: TimelinePhase;
  readonly fromMs: number;
  readonly toMs: number;
  /** The generation; absent before the first one. */
  readonly generation?: number;
}

/** The generations of roles that start together, in sequence. */
export interface TimelineLane {
  /** In a job with several stages: the roles of this one. */
  readonly roles?: readonly string[];
  readonly spans: readonly TimelineSpan[];
}

/** A job's whole time, from its submission to its end or to now. Times are milliseconds since the epoch. */
export interface Timeline {
  readonly fromMs: number;
  readonly toMs: number;
  /** Until the first generation began. */
  readonly start: readonly TimelineSpan[];
  /** One for each stage. */
  readonly lanes: readonly TimelineLane[];
  readonly takeovers: readonly Takeover[];
}

/** The facts that a timeline is computed from. */
export interface Timed
  extends Pick<
    JobStatus,
    "submittedAtMs" | "startedAtMs" | "nowMs" | "state" | "generations" | "takeovers" | "search"
  > {
  readonly outcome?: Pick<JobOutcome, "endedAtMs"> & { readonly cause?: Pick<Cause, "generation"> };
}

/** The generations that count: the next one of the same tasks may have been opened before it was known that the job ends with this one. */
export function countedGenerations({
  generations,
  outcome,
}: Pick<Timed, "generations" | "outcome">): readonly GenerationSummary[] {
  const last = generations.find(({ generation }) => generation === outcome?.cause?.generation);
  if (last === undefined) return generations;
  return generations.filter(
    ({ generation, roles }) => generation <= last.generation || String(roles) !== String(last.roles),
  );
}

/** For a search without its trials, which overlap. The clocks of machines differ: no span ends before it begins. */
export function timelineOf(status: Timed): Timeline {
  const { submittedAtMs = status.startedAtMs, startedAtMs, nowMs, takeovers = [], search, outcome } = status;
  const generations = countedGenerations(status);
  const fromMs = Math.min(submittedAtMs, startedAtMs);
  const toMs = Math.max(startedAtMs, outcome?.endedAtMs ?? nowMs);
  return {
    fromMs,
    toMs,
    start: spansOf(fromMs, generations[0]?.startedAtMs ?? toMs, ["queued", "starting"], [startedAtMs]),
    lanes:
      search !== undefined ? [] : lanesOf(generations).map((own) => laneOf(own, toMs, status.state === "restarting")),
    takeovers,
  };
}

/** Each phase with its total duration, in order; without phases of no duration. */
export function totalsOf(spans: readonly TimelineSpan[]): { readonly phase: TimelinePhase; readonly tookMs: number }[] {
  const phases = new Set(spans.map(({ phase }) => phase));
  return [...phases].map((phase) => ({
    phase,
    tookMs: spans.reduce((sum, one) => (one.phase === phase ? sum + one.toMs - one.fromMs : sum), 0),
  }));
}

/** `queued 4.1 s · containers 12 s · running 20 min 3 s` */
export function totalWords(spans: readonly TimelineSpan[]): string {
  return totalsOf(spans)
    .map(({ phase, tookMs }) => `${phase} ${spanWords(tookMs)}`)
    .join(" · ");
}

const TENTHS_BELOW_MS = 10_000;

/** A duration in words; a short one with tenths. */
export function spanWords(ms: number): string {
  return ms < TENTHS_BELOW_MS ? `${(ms / 1000).toFixed(1)} s` : durationWords(ms);
}

function lanesOf(generations: readonly GenerationSummary[]): readonly (readonly GenerationSummary[])[] {
  const lanes = new Map<string, GenerationSummary[]>();
  for (const one of generations) {
    const key = String(one.roles);
    lanes.set(key, [...(lanes.get(key) ?? []), one]);
  }
  return [...lanes.values()];
}

function laneOf(own: readonly GenerationSummary[], toMs: number, isRestarting: boolean): TimelineLane {
  const spans = own.flatMap((one, index): TimelineSpan[] => {
    const next = own[index + 1]?.startedAtMs;
    const endMs = one.endedAtMs ?? next ?? toMs;
    const againMs = next ?? (isRestarting ? toMs : endMs);
    const { allocatedAtMs, localizedAtMs, registeredAtMs, runningAtMs, generation } = one;
    const life = spansOf(
      one.startedAtMs,
      endMs,
      ["containers", "files", "registration", "programs", "running"],
      [allocatedAtMs, localizedAtMs, registeredAtMs, runningAtMs],
    );
    return [...life, ...spansOf(endMs, againMs, ["restarting"], [])].map((span) => ({ ...span, generation }));
  });
  const [first] = own;
  return { ...(first?.roles && { roles: first.roles }), spans };
}

/** @param ends when each phase but the last was over; the phase after the last known end continues until the end */
function spansOf(
  fromMs: number,
  toMs: number,
  phases: readonly TimelinePhase[],
  ends: readonly (number | undefined)[],
): TimelineSpan[] {
  const open = ends.findLastIndex((end) => end !== undefined) + 1;
  let atMs = fromMs;
  return phases.slice(0, open + 1).flatMap((phase, index) => {
    const begunAtMs = atMs;
    atMs = index === open ? Math.max(atMs, toMs) : Math.max(atMs, Math.min(toMs, ends[index] ?? atMs));
    return atMs > begunAtMs ? [{ phase, fromMs: begunAtMs, toMs: atMs }] : [];
  });
}
