import type { Feed } from "../../../../am/core/feeds/records.ts";
import type { Boundary } from "../../../../src/job/feeds/feed-spec.ts";
import { Random } from "../../../simulation/random.ts";
import { problemsOfSteps } from "./steps-world.ts";
import { FeedWorld, type Kind, type Troubles } from "./world.ts";

const CALM: Troubles = {
  ...{ masterDies: 0, taskDies: 0, taskSleeps: 0, callLost: 0, taskIdles: 0, taskLies: 0 },
  ...{ taskCutOff: 0, callRepeated: 0, journalFails: 0, machines: 0, locatingFails: 0 },
};
const STEPS = 60_000;

/** A feed, its tasks and their troubles, as the seed has them. */
export function feedLife(seed: number, kind: Kind, troubled = true): FeedWorld {
  const random = new Random(seed);
  const feed = feedOf(random, kind, troubled);
  const troubles: Troubles = {
    masterDies: random.pick([0, 0.002, 0.01]),
    taskDies: random.pick([0, 0.0005, 0.002]),
    taskSleeps: random.pick([0, 0.001, 0.005]),
    callLost: random.pick([0, 0.05]),
    taskIdles: random.pick([0, 0.5, 1]),
    taskCutOff: random.pick([0, 0, 0.002]),
    callRepeated: random.pick([0, 0.1]),
    journalFails: random.pick([0, 0, 0.1]),
    machines: random.pick([0, 1, 2, 3]),
    locatingFails: random.pick([0, 0.2, 1]),
    taskLies: random.pick([0, 0.01]),
    ...(random.chance(0.2) ? { deadly: random.integer(0, Math.max(0, feed.splits - 1)) } : {}),
  };
  const toCome = Array.from({ length: random.integer(1, 6) }, () => random.integer(1, 8));
  return new FeedWorld(random, feed, random.integer(1, 5), kind, troubled ? troubles : CALM, toCome);
}

/** One without end is read by those who make checkpoints: what they used is in these. */
function feedOf(random: Random, kind: Kind, troubled: boolean): Feed {
  const boundary: Boundary | undefined = troubled
    ? random.pick<Boundary | undefined>([undefined, "overlap", kind === "together" ? "infinite" : "overlap"])
    : undefined;
  const grows = boundary === undefined && troubled && random.chance(0.5);
  return {
    ...(grows ? { growth: { batches: [{ behind: 0, plan: "a1" }], isComplete: false } } : {}),
    ...(random.chance(0.5) ? { seed: random.integer(0, 9) } : {}),
    ...{ name: "train", plan: "a1", splits: grows ? 0 : random.integer(1, 30) },
    ...(boundary === "infinite" ? {} : { epochs: grows ? 1 : random.integer(1, 3) }),
    ...(boundary === undefined ? {} : { boundary }),
    ...{ window: random.integer(1, 4), leaseMs: random.integer(200, 600), maxAttempts: random.integer(4, 8) },
  };
}

/** Lives it to its end. @returns what was used otherwise than is guaranteed */
export function problemsOf(world: FeedWorld, kind: Kind): readonly string[] {
  if (!world.run(STEPS)) return ["it came to no end"];
  const isRight = (times: number) => (kind === "together" ? times === 1 : times >= 1);
  const wrong = usedOtherwise(world, (times, isLeftOut) => isRight(times) || (isLeftOut && times === 0));
  return [...world.problems, ...wrong];
}

const KINDS = ["together", "alone"] as const;

/** Each kind of feed with that seed. @returns what was not as docs/guide/feeds.md guarantees it */
export function problemsOfFeeds(seed: number): readonly string[] {
  return [
    ...KINDS.flatMap((kind) => problemsOf(feedLife(seed, kind), kind).map((problem) => `${kind}: ${problem}`)),
    ...(["drop", "pad"] as const).flatMap((uneven) =>
      problemsOfSteps(seed, uneven).map((problem) => `${uneven}: ${problem}`),
    ),
  ];
}

/** Records of epochs that have an end, and how often they were used. */
export function usedOtherwise(
  world: FeedWorld,
  isRight: (times: number, isLeftOut: boolean) => boolean,
): readonly string[] {
  const model = world.model();
  const wrong: string[] = [];
  for (let epoch = 0; epoch < (world.feed.epochs ?? 0); epoch += 1) {
    for (let split = 0; split < world.feed.splits; split += 1) {
      for (let record = 0; record < world.recordsOf(split); record += 1) {
        const times = model.get(`${epoch}/${split}/${record}`) ?? 0;
        if (!isRight(times, world.leftOut.has(split))) wrong.push(`${epoch}/${split}/${record}: ${times}`);
      }
    }
  }
  return wrong;
}
