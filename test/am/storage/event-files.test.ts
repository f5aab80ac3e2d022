import { expect, test } from "@jest/globals";
import { eventFiles } from "../../../am/storage/event-files.ts";
import { checkedRecords } from "../../../executor/feeds/tfrecord.ts";
import { searchOf } from "../../job/search/support.ts";

const search = searchOf({
  lr: "float 0 1",
  optimizer: "choice adam sgd",
  momentum: "choice 0.5 0.9 when optimizer=sgd",
});
const trials = [
  {
    number: 0,
    params: { lr: 0.25, optimizer: "adam" },
    state: "completed",
    value: 0.5,
    step: 3,
    startedAtMs: 2_000,
    endedAtMs: 4_000,
  },
  {
    number: 1,
    params: { lr: 0.5, optimizer: "sgd", momentum: 0.9 },
    state: "failed",
    reports: [
      [1, 0.75],
      [2, "NaN"],
    ],
    startedAtMs: 3_000,
  },
] as const;

test("a search leaves an event file for each trial and one of its space: records whose checksums fit", async () => {
  const files = eventFiles(search, trials, 1_000);
  expect(Object.keys(files)).toEqual([
    "tensorboard/events.out.tfevents.1.tony-ts",
    "tensorboard/trial-0/events.out.tfevents.2.tony-ts",
    "tensorboard/trial-1/events.out.tfevents.3.tony-ts",
  ]);
  for (const [name, content] of Object.entries(files)) {
    const read: Buffer[] = [];
    const source = (async function* () {
      yield Buffer.from(content);
    })();
    for await (const piece of checkedRecords(source, name)) read.push(piece);
    expect(Buffer.concat(read)).toEqual(content);
    expect(Buffer.from(content).indexOf("brain.Event:2")).toBeGreaterThan(0);
  }
});

test("a trial's file has its parameters, each report as a scalar, and how it ended", () => {
  const [, first, second] = Object.values(eventFiles(search, trials, 1_000)).map((content) =>
    Buffer.from(content).toString("latin1"),
  );
  for (const part of ["_hparams_/session_start_info", "_hparams_/session_end_info", "optimizer", "adam", "trial-0"])
    expect(first).toContain(part);
  expect(first).not.toContain("momentum");
  expect(first?.split("loss")).toHaveLength(2);
  expect(second?.split("loss")).toHaveLength(3);
  // Message 4, session_end_info, begins with status 1 (SUCCESS) or 2 (FAILURE).
  // Field 2 is when it ended: 4 s after the epoch.
  expect(first).toContain("\x22\x0b\x08\x01\x11\x00\x00\x00\x00\x00\x00\x10\x40");
  expect(second).toContain("\x22\x0b\x08\x02");
});

test("a search of thousands of trials does not keep its job from ending: the first thousand have files", () => {
  const many = Array.from({ length: 1_200 }, (_, number) => ({ number, params: { lr: 0.5, optimizer: "adam" } }));
  expect(Object.keys(eventFiles(search, many, 1_000))).toHaveLength(1_001);
});
