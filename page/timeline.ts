import type { Timed, TimelineLane, TimelineSpan } from "../src/job/timeline.ts";
import { countedGenerations, spanWords, timelineOf, timelinePhases, totalsOf } from "../src/job/timeline.ts";
import { el, svg } from "./dom.ts";
import { moment } from "./words.ts";

type Generation = Timed["generations"][number];

interface Drawn {
  readonly fromMs: number;
  readonly toMs: number;
  readonly takeovers: readonly { readonly atMs: number }[];
}

/** How the job's time was spent: in figures, as a bar for each stage, and for each generation. */
export function drawTimeline(status: Timed): HTMLElement | "" {
  const timeline = timelineOf(status);
  const { start, lanes, takeovers } = timeline;
  if (status.generations.length === 0) return "";
  return el("div", { class: "timeline" }, [
    el("h2", {}, ["Timeline"]),
    ...(lanes.length === 1 ? [] : [figures("", start)]),
    ...lanes.flatMap((lane) => [
      figures((lane.roles ?? []).join(", "), lanes.length === 1 ? [...start, ...lane.spans] : lane.spans),
      bar([...start, ...lane.spans], timeline),
    ]),
    ...takeovers.map(({ attempt, atMs }) =>
      el("p", {}, [key("takeover"), `attempt ${attempt} of its ApplicationMaster took over at ${moment(atMs)}`]),
    ),
    table(status, lanes),
  ]);
}

function key(kind: string): HTMLElement {
  return el("span", { class: `key ${kind}`, "aria-hidden": "true" }, []);
}

/** The figures are the bar's legend, too. */
function figures(title: string, spans: readonly TimelineSpan[]): HTMLElement {
  return el("p", { class: "figures" }, [
    title === "" ? "" : el("b", {}, [title]),
    ...totalsOf(spans).flatMap(({ phase, tookMs }) => [
      el("span", { title: timelinePhases[phase] }, [key(phase), `${phase} ${spanWords(tookMs)}`]),
      " ",
    ]),
  ]);
}

function bar(spans: readonly TimelineSpan[], { fromMs, toMs, takeovers }: Drawn): SVGElement {
  const whole = Math.max(1, toMs - fromMs);
  const box = { viewBox: `0 0 ${whole} 1`, preserveAspectRatio: "none", "aria-hidden": "true" };
  return svg("svg", box, [
    ...spans.map((span) => {
      const shape = { class: span.phase, x: span.fromMs - fromMs, width: span.toMs - span.fromMs, height: 1 };
      const of = span.generation === undefined ? "" : `generation ${span.generation}: `;
      const title = svg("title", {}, [`${of}${span.phase} ${spanWords(span.toMs - span.fromMs)}`]);
      return svg("rect", shape, [title]);
    }),
    ...takeovers.map(({ atMs }) =>
      svg("rect", { class: "takeover", x: atMs - fromMs - whole / 600, width: whole / 300, height: 1 }),
    ),
  ]);
}

const parts = ["containers", "files", "registration", "programs", "running"] as const;

function table(status: Timed, lanes: readonly TimelineLane[]): HTMLElement {
  const isStaged = lanes.length > 1;
  const spans = lanes.flatMap((lane) => lane.spans);
  const titles = ["generation", ...(isStaged ? ["stage"] : []), "began", ...parts, "ended by"];
  const head = titles.map((title) => el("th", { scope: "col" }, [title]));
  const rows = countedGenerations(status).map((one) => rowOf(one, spans, isStaged));
  return el("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Generations" }, [
    el("table", { class: "generations" }, [el("thead", {}, [el("tr", {}, head)]), el("tbody", {}, rows)]),
  ]);
}

function rowOf(one: Generation, all: readonly TimelineSpan[], isStaged: boolean): HTMLElement {
  const { generation, startedAtMs, endedAtMs, endedBy, roles = [] } = one;
  const tookMs = new Map(
    totalsOf(all.filter((span) => span.generation === generation)).map((total) => [total.phase, total.tookMs]),
  );
  const cells = parts.map((part) => {
    const ms = tookMs.get(part);
    return el("td", {}, [ms === undefined ? "" : spanWords(ms)]);
  });
  return el("tr", {}, [
    el("th", { scope: "row" }, [String(generation)]),
    ...(isStaged ? [el("td", {}, [roles.join(", ")])] : []),
    el("td", {}, [moment(startedAtMs)]),
    ...cells,
    el("td", { class: "cause" }, [endedBy?.summary ?? (endedAtMs === undefined ? "" : "its tasks are done")]),
  ]);
}
