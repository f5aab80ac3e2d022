import { el, svg } from "./dom.ts";
import type { Chart, Series } from "./live.ts";
import { amount, moment, plain, size } from "./words.ts";

const WIDTH = 300;
const HEIGHT = 60;
const titles: Readonly<Record<string, string>> = { cpu: "cores", gpu: "GPU %" };

/** A line for each quantity of a task, all over the same time. */
export function drawCharts(chart: Chart, memoryLimitBytes: number): Element[] {
  const spans = Math.max(2, ...chart.series.map(({ first, values }) => first + values.length));
  return chart.series.map((series) => figure(series, chart, spans, memoryLimitBytes));
}

function figure(series: Series, { fromMs, spanMs }: Chart, spans: number, memoryLimitBytes: number): Element {
  const heard = series.values.filter((value) => value !== null);
  const words = series.name === "memory" ? size : series.name.startsWith("disk-") ? rate : amount;
  const [least, most, last] = [Math.min(...heard), Math.max(...heard), heard.at(-1) ?? 0];
  const isMetric = series.name.startsWith("metric:");
  const bottom = isMetric || series.name === "step" ? least : 0;
  const top = series.name === "memory" && memoryLimitBytes > 0 ? memoryLimitBytes : Math.max(most, bottom + 1e-12);
  const name = titles[series.name] ?? series.name.replace(/^metric:/, "");
  const label = `${name}: last ${words(last)}, between ${words(least)} and ${words(most)}, since ${moment(fromMs + series.first * spanMs)}`;
  const lines = linesOf(series, spans, bottom, top).map((points) =>
    svg("polyline", { points, class: "line", fill: "none" }),
  );
  const box = { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", role: "img", "aria-label": label };
  const drawing = svg("svg", box, lines);
  const limit = series.name === "memory" && memoryLimitBytes > 0 ? ` of ${size(memoryLimitBytes)}` : "";
  const now = `${name}  ${words(last)}${limit}`;
  const shown = el("span", {}, [now]);
  const tell = (share: number) => {
    const index = Math.round(share * (spans - 1));
    const value = series.values[index - series.first];
    shown.textContent =
      value === undefined || value === null
        ? now
        : plain(`${name}  ${words(value)} at ${moment(fromMs + index * spanMs)}`);
  };
  drawing.addEventListener("pointermove", ({ clientX }) => {
    const { left, width } = drawing.getBoundingClientRect();
    tell((clientX - left) / width);
  });
  drawing.addEventListener("pointerleave", () => tell(Number.NaN));
  const range = series.name === "memory" ? `most ${words(most)}` : `${words(least)} to ${words(most)}`;
  const between = el("span", {}, [least === most ? "" : range]);
  const [from, to] = [0, spans - 1].map((index) => el("span", {}, [moment(fromMs + index * spanMs)]));
  return el("figure", {}, [
    el("figcaption", {}, [shown, between]),
    drawing,
    el("p", { class: "axis", "aria-hidden": "true" }, [from ?? "", to ?? ""]),
  ]);
}

const rate = (bytes: number) => `${size(bytes)}/s`;

/** Lines that are broken where nothing was heard. A value alone is a short one. */
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
