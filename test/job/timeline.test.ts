import { describe, expect, test } from "@jest/globals";
import { countedGenerations, type Timed, timelineOf, totalsOf, totalWords } from "../../src/job/timeline.ts";

const SECOND = 1_000;
const at = (seconds: number) => 1_000_000 + seconds * SECOND;

const first = {
  ...{ generation: 1, startedAtMs: at(5), allocatedAtMs: at(15), localizedAtMs: at(35), registeredAtMs: at(36) },
  ...{ runningAtMs: at(40), endedAtMs: at(100) },
};
const second = {
  ...{ generation: 2, startedAtMs: at(108), allocatedAtMs: at(108), localizedAtMs: at(108), registeredAtMs: at(110) },
  runningAtMs: at(112),
};

function job(changes: Partial<Timed> = {}): Timed {
  const times = { submittedAtMs: at(0), startedAtMs: at(4), nowMs: at(172) };
  return { ...times, state: "running", generations: [first, second], ...changes };
}

/** `containers 5–15` */
function told(status: Timed): string[] {
  const { start, lanes } = timelineOf(status);
  return [...start, ...lanes.flatMap(({ spans }) => spans)].map(
    ({ phase, fromMs, toMs }) => `${phase} ${(fromMs - at(0)) / SECOND}–${(toMs - at(0)) / SECOND}`,
  );
}

describe("the timeline of a job", () => {
  test("goes from its submission to now, each moment of it to one phase", () => {
    expect(told(job())).toEqual([
      ...["queued 0–4", "starting 4–5", "containers 5–15", "files 15–35", "registration 35–36", "programs 36–40"],
      ...["running 40–100", "restarting 100–108", "registration 108–110", "programs 110–112", "running 112–172"],
    ]);
    expect(timelineOf(job())).toMatchObject({ fromMs: at(0), toMs: at(172), takeovers: [] });
  });

  test("in words has what each phase took in all", () => {
    const { start, lanes } = timelineOf(job());
    const spans = [...start, ...(lanes[0]?.spans ?? [])];
    expect(totalWords(spans)).toBe(
      "queued 4.0 s · starting 1.0 s · containers 10 s · files 20 s · registration 3.0 s · programs 6.0 s · running 2 min · restarting 8.0 s",
    );
    expect(totalsOf([])).toEqual([]);
  });

  test.each([
    [{ generations: [] }, ["queued 0–4", "starting 4–172"]],
    [{ generations: [{ generation: 1, startedAtMs: at(5) }] }, ["queued 0–4", "starting 4–5", "containers 5–172"]],
    [
      { generations: [{ generation: 1, startedAtMs: at(4), allocatedAtMs: at(9) }] },
      ["queued 0–4", "containers 4–9", "files 9–172"],
    ],
    [
      { generations: [{ ...first, runningAtMs: undefined }], state: "restarting" },
      [
        ...["queued 0–4", "starting 4–5", "containers 5–15", "files 15–35", "registration 35–36", "programs 36–100"],
        "restarting 100–172",
      ],
    ],
  ] as const)("of %j has what goes on at its end", (changes, spans) => {
    const generations = changes.generations.map((one) => JSON.parse(JSON.stringify(one)));
    expect(told(job({ ...changes, generations }))).toEqual(spans);
  });

  test("has no generation that was opened before it was known that the job ends with the one before", () => {
    const outcome = { endedAtMs: at(112), cause: { generation: 1 } };
    expect(told(job({ outcome })).at(-1)).toBe("running 40–100");
    const staged = [
      { ...first, roles: ["ps"] },
      { ...second, roles: ["worker"] },
    ];
    expect(countedGenerations({ generations: staged, outcome }).map(({ generation }) => generation)).toEqual([1, 2]);
    expect(countedGenerations({ generations: staged }).map(({ generation }) => generation)).toEqual([1, 2]);
  });

  test("ends with the job, and begins with its ApplicationMaster where nobody knows when it was submitted", () => {
    const { submittedAtMs: _none, ...unknown } = job({ outcome: { endedAtMs: at(120) } });
    expect(told(unknown)[0]).toBe("starting 4–5");
    expect(told(unknown).at(-1)).toBe("running 112–120");
  });

  test("of an older history, which has when its programs ran alone, counts all before that as their start", () => {
    const generations = [{ generation: 1, startedAtMs: at(4), runningAtMs: at(14) }];
    expect(told(job({ generations }))).toEqual(["queued 0–4", "programs 4–14", "running 14–172"]);
  });

  test("has no span that ends before it begins, whatever the clocks of its machines say", () => {
    const generations = [{ ...first, localizedAtMs: at(2), registeredAtMs: at(400), runningAtMs: at(50) }];
    const early = job({ submittedAtMs: at(9), generations });
    expect(told(early)).toEqual(["starting 4–5", "containers 5–15", "registration 15–100"]);
  });

  test("has a lane for each stage, each with its own restarts", () => {
    const stage = (generation: number, role: string, from: number, to: number) => ({
      ...{ generation, startedAtMs: at(from), runningAtMs: at(from + 1), endedAtMs: at(to), roles: [role] },
    });
    const generations = [stage(1, "prepare", 4, 20), stage(2, "train", 20, 60), stage(3, "train", 62, 172)];
    const { lanes } = timelineOf(job({ generations }));
    expect(lanes.map(({ roles, spans }) => `${roles}: ${totalWords(spans)}`)).toEqual([
      "prepare: programs 1.0 s · running 15 s",
      "train: programs 2.0 s · running 2 min 28 s · restarting 2.0 s",
    ]);
  });

  test("of a search leaves out its trials, which overlap", () => {
    const search = { metric: "loss", direction: "minimize", parameters: [], command: "" } as const;
    expect(timelineOf(job({ search })).lanes).toEqual([]);
  });
});
