import { el, svg } from "./dom.ts";
import type { Chart, Series } from "./live.ts";
import { amount, moment, plain, size } from "./words.ts";

const WIDTH = 300;
const HEIGHT = 60;
const titles: Readonly<Record<string, string>> = { cpu: "cores", gpu: "GPU %" };

/** One line for each quantity of a task, over the same period. */
export function drawCharts(chart: Chart, memoryLimitBytes: number): Element[] {
  const spans = Math.max(2, ...chart.series.map(({ first, values }) => first + values.length));
  return inOrder(chart.series).map((series) => figure(series, chart, spans, memoryLimitBytes));
}

/** First what programs report, then what is measured. */
const measured = ["cpu", "memory", "gpu"];
export function inOrder<T extends { readonly name: string }>(series: readonly T[]): T[] {
  const rank = ({ name }: T) => (name.startsWith("metric:") ? 0 : name === "step" ? 1 : 2 + rankOf(name));
  const rankOf = (name: string) => (measured.includes(name) ? measured.indexOf(name) : measured.length);
  return series.toSorted((a, b) => rank(a) - rank(b) || (a.name < b.name ? -1 : 1));
}

/** A quantity's title, how its values are written, and where its axis begins: at 0, except for quantities that programs count themselves. */
export function quantity(name: string): { title: string; words: (value: number) => string; fromLeast: boolean } {
  return {
    title: titles[name] ?? name.replace(/^metric:/, ""),
    words: name === "memory" ? size : name.startsWith("disk-") ? rate : amount,
    fromLeast: name === "step" || name.startsWith("metric:"),
  };
}

function figure(series: Series, { fromMs, spanMs }: Chart, spans: number, memoryLimitBytes: number): Element {
  const heard = series.values.filter((value) => value !== null);
  const { title: name, words, fromLeast } = quantity(series.name);
  const [least, most, last] = [Math.min(...heard), Math.max(...heard), heard.at(-1) ?? 0];
  const isLimited = series.name === "memory" && memoryLimitBytes > 0;
  const bottom = fromLeast ? least : 0;
  const top = isLimited ? memoryLimitBytes : Math.max(most, bottom + 1e-12);
  const label = `${name}: last ${words(last)}, between ${words(least)} and ${words(most)}, since ${moment(fromMs + series.first * spanMs)}`;
  const lines = linesOf(series, spans, bottom, top).map((points) =>
    svg("polyline", { points, class: "line", fill: "none" }),
  );
  const box = { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", role: "img", "aria-label": label };
  const drawing = svg("svg", box, lines);
  const now = `${name}  ${words(last)}`;
  const range = least === most ? "" : `${words(least)} to ${words(most)}`;
  const all = isLimited ? `most ${ofLimit(most, memoryLimitBytes)}` : range;
  const shown = el("span", {}, [now]);
  const between = el("span", {}, [all]);
  /** A past value is shown in place of the current one: nothing moves. */
  const tell = (share: number) => {
    const index = Math.round(share * (spans - 1));
    const value = series.values[index - series.first] ?? undefined;
    shown.textContent = plain(value === undefined ? now : `${name}  ${words(value)}`);
    between.textContent = value === undefined ? all : moment(fromMs + index * spanMs);
  };
  drawing.addEventListener("pointermove", ({ clientX }) => {
    const { left, width } = drawing.getBoundingClientRect();
    tell((clientX - left) / width);
  });
  drawing.addEventListener("pointerleave", () => tell(Number.NaN));
  const [from, to] = [0, spans - 1].map((index) => el("span", {}, [moment(fromMs + index * spanMs)]));
  return el("figure", {}, [
    el("figcaption", {}, [shown, between]),
    drawing,
    el("p", { class: "axis", "aria-hidden": "true" }, [from ?? "", to ?? ""]),
  ]);
}

/** `6.15 of 8 GiB` */
function ofLimit(bytes: number, limitBytes: number): string {
  const [limit = "", unit = ""] = size(limitBytes).split(" ");
  return `${amount((bytes / limitBytes) * Number(limit))} of ${limit} ${unit}`;
}

const rate = (bytes: number) => `${size(bytes)}/s`;

/** Lines with gaps where there are no values. A single value is a short line. */
function linesOf({ first, values }: Series, spans: number, bottom: number, top: number): string[] {
  const lines: string[][] = [[]];
  for (const [index, value] of values.entries()) {
    if (value === null) {
      lines.push([]);
      continue;
    }
    const x = ((first + index) / (spans - 1)) * WIDTH;
    const y = HEIGHT - 2 - ((value - bottom) / (top - bottom)) * (HEIGHT - 4);
    lines.at(-1)?.push(`${x.toFixed(1)},${y.toFixed(1)}`);
  }
  return lines
    .filter(({ length }) => length > 0)
    .map((line) => (line.length > 1 ? line : [...line, ...line]).join(" "));
}
