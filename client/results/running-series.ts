import type { RunRow, RunSeries } from "../../src/advice/run.ts";
import { seriesRules } from "../../src/history/series/ring.ts";
import { amount, arrayOf, count, literal, object, type Shape, string } from "../../src/job/shape.ts";
import type { MasterConnection } from "../master/master-connection.ts";

/**
 * The measurements so far of a running job's first tasks of each role, as the job's page gets them; undefined where its ApplicationMaster does
 * not answer, or the job has no page.
 */
export async function runningSeries(link: Pick<MasterConnection, "askPage">): Promise<RunSeries | undefined> {
  try {
    return answer(JSON.parse(await link.askPage("run")), "").series;
  } catch {
    return undefined;
  }
}

const value: Shape<number | null> = (given, where) => (given === null ? null : amount(given, where));

const row = object<RunRow>({
  required: {
    task: string,
    series: arrayOf(
      object<RunRow["series"][number]>({
        required: { name: string, rule: literal(...seriesRules), first: count, values: arrayOf(value) },
        optional: {},
      }),
    ),
  },
  optional: {},
});

/** As `src/page/run-answer.ts` makes it. */
const answer = object<{ readonly series: RunSeries }>({
  required: {
    series: object<RunSeries>({
      required: {
        axis: object<RunSeries["axis"]>({ required: { spanMs: amount }, optional: {} }),
        rows: arrayOf(row),
      },
      optional: {},
    }),
  },
  optional: {},
});
