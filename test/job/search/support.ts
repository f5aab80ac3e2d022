import { parseParameter } from "../../../src/job/search/parse-parameter.ts";
import { propose } from "../../../src/job/search/propose.ts";
import type { Parameters } from "../../../src/job/search/space.ts";
import type { Search, Trial } from "../../../src/job/search/trials.ts";

/** A search through a space, each parameter as it is written in a job. */
export function searchOf(space: Readonly<Record<string, string>>): Search {
  return {
    space: Object.entries(space).map(([name, text]) => ({ name, ...parseParameter(text) })),
    points: [],
    metric: "loss",
    direction: "minimize",
    algorithm: "random",
    population: 6,
    stop: "none",
    maxParallel: 4,
    failures: { onFailed: "continue" },
    retries: 0,
    seed: 0,
  };
}

/** A trial that reported these values, from step 1 on. */
export function reporting(values: readonly number[], state: Trial["state"] = "running"): Trial {
  return { params: {}, state, reports: values.map((value, index) => ({ step: index + 1, value })) };
}

/** All trials that it proposes, and why there are no more. */
export function proposed(search: Search): { readonly trials: readonly Parameters[]; readonly end: string } {
  const trials: Trial[] = [];
  for (;;) {
    const proposal = propose(search, trials);
    if ("none" in proposal) return { trials: trials.map(({ params }) => params), end: proposal.none };
    trials.push({ params: proposal.params, state: "running" });
  }
}

/** Branin's function, whose minimum is 0.397887. */
export function branin({ x, y }: Parameters): number {
  const [a, b] = [Number(x), Number(y)];
  const parabola = b - (5.1 / (4 * Math.PI ** 2)) * a ** 2 + (5 / Math.PI) * a - 6;
  return parabola ** 2 + 10 * (1 - 1 / (8 * Math.PI)) * Math.cos(a) + 10;
}

const SCALES = [
  [10, 3, 17, 3.5, 1.7, 8],
  [0.05, 10, 17, 0.1, 8, 14],
  [3, 3.5, 1.7, 10, 17, 8],
  [17, 8, 0.05, 10, 0.1, 14],
];
const CENTERS = [
  [0.1312, 0.1696, 0.5569, 0.0124, 0.8283, 0.5886],
  [0.2329, 0.4135, 0.8307, 0.3736, 0.1004, 0.9991],
  [0.2348, 0.1451, 0.3522, 0.2883, 0.3047, 0.665],
  [0.4047, 0.8828, 0.8732, 0.5743, 0.1091, 0.0381],
];
const HEIGHTS = [1, 1.2, 3, 3.2];

/** Hartmann's function of `x0` to `x5`, whose minimum is -3.32237. */
export function hartmann6(params: Parameters): number {
  const hills = HEIGHTS.map((height, hill) => {
    const distances = (SCALES[hill] ?? []).map((scale, index) => {
      return scale * (Number(params[`x${index}`]) - (CENTERS[hill]?.[index] ?? 0)) ** 2;
    });
    return height * Math.exp(-distances.reduce((sum, distance) => sum + distance, 0));
  });
  return -hills.reduce((sum, hill) => sum + hill, 0);
}
