import type { Use, UseAnswer } from "../src/page/portal-answers.ts";
import { el, fill, svg } from "./dom.ts";
import { amount } from "./words.ts";

const WIDE = 700;
const HIGH = 80;
/** The bars of fewer days are as wide as with this many. */
const LEAST_DAYS = 60;

/** What jobs held, by queue and user, and by day. */
export function showUse({ owners, days }: UseAnswer): void {
  const hasGpus = owners.some(({ gpuHours }) => gpuHours > 0);
  document.getElementById("use")?.classList.toggle("no-gpu", !hasGpus);
  fill(
    "use-rows",
    owners.map(({ queue, user, ...use }) =>
      el("tr", {}, [
        el("th", { scope: "row" }, [queue]),
        ...[
          user,
          String(use.jobs),
          amount(use.gibHours),
          share(use.wastedGibHours, use.gibHours),
          amount(use.coreHours),
          ...(hasGpus ? [amount(use.gpuHours), share(use.wastedGpuHours, use.gpuHours)] : []),
          costWords(use),
        ].map((cell) => el("td", {}, [cell])),
      ]),
    ),
  );
  const most = Math.max(...days.map(({ gibHours }) => gibHours));
  const [first, last] = [days[0], days.at(-1)];
  fill("use-chart", first === undefined || last === undefined || most === 0 ? [] : [chart(days, most)]);
}

function share(part: number, whole: number): string {
  return whole === 0 ? "" : `${Math.round((part / whole) * 100)} %`;
}

/** `62 EUR, 3 USD` */
function costWords({ costs }: Use): string {
  return costs.map((cost) => [amount(cost.amount), cost.currency ?? ""].join(" ").trim()).join(", ");
}

/** A bar for each day on which jobs ran, with the wasted part marked. */
function chart(days: UseAnswer["days"], most: number): Element {
  const step = WIDE / Math.max(days.length, LEAST_DAYS);
  const bar = (index: number, value: number, kind: string) => {
    const height = (value / most) * HIGH;
    return svg("rect", { class: kind, x: index * step, y: HIGH - height, width: step * 0.9, height });
  };
  const bars = days.map((day, index) =>
    svg("g", {}, [
      svg("title", {}, [
        `${day.day}: ${amount(day.gibHours)} GiB·h, ${amount(day.wastedGibHours)} wasted${day.gpuHours === 0 ? "" : `; ${amount(day.gpuHours)} GPU·h`}${day.costs.length === 0 ? "" : `; ${costWords(day)}`}`,
      ]),
      bar(index, day.gibHours, "held"),
      bar(index, day.wastedGibHours, "wasted"),
    ]),
  );
  const label = `GiB·h a day from ${days[0]?.day} to ${days.at(-1)?.day}, ${amount(most)} at most`;
  const shape = { viewBox: `0 0 ${WIDE} ${HIGH}`, preserveAspectRatio: "none" };
  const picture = svg("svg", { ...shape, role: "img", "aria-label": label }, bars);
  return el("figure", {}, [picture, el("figcaption", {}, [label])]);
}
