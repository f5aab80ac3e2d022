import { expect, test } from "@jest/globals";
import { lastGeneration, tenanciesOf } from "../../src/logs/master-log.ts";
import { fieldsOf } from "../../src/logs/own-log.ts";

const [first, second] = ["container_1_0001_01_000002", "container_1_0001_01_000003"];
const linesOf = (...lines: readonly (object | string)[]) =>
  lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line))).join("\n");

test("the AM's log tells which task was in which container, once each and in their order, and what ran there", () => {
  const text = linesOf(
    { event: "container-allocated", task: "worker:0", container: first },
    { event: "container-allocated", task: "worker:1", container: second },
    { event: "task-started", task: "worker:0", container: first },
    { event: "task-registered", task: "worker:1", container: second },
    { event: "container-allocated", task: "worker:1", container: first },
    { event: "task-started", task: "worker:1", container: first },
  );
  expect(tenanciesOf(text)).toEqual([
    { task: "worker:0", containerId: first, logPrefix: "", ran: true },
    { task: "worker:1", containerId: second, logPrefix: "", ran: false },
    { task: "worker:1", containerId: first, logPrefix: "worker-1.", ran: true },
  ]);
});

test("of a search it tells of which trial each task was, wherever it says so", () => {
  const text = linesOf(
    { event: "container-allocated", task: "worker:0", container: first },
    { event: "task-started", task: "worker:0", trial: "trial:0/worker:0", container: first },
    { event: "container-allocated", task: "worker:1", container: second },
    { event: "task-registered", task: "worker:0", container: first },
  );
  expect(tenanciesOf(text).map(({ task, trial }) => [task, trial])).toEqual([
    ["worker:0", "trial:0/worker:0"],
    ["worker:1", undefined],
  ]);
});

test("its last generation is the highest that any line names, and the first where none does", () => {
  expect(lastGeneration(linesOf({ generation: 2 }, { generation: 4 }, { generation: "9" }, { generation: 3 }))).toBe(4);
  expect(lastGeneration("")).toBe(1);
});

test.each(["no JSON", '{"event":"cut wh', "null", "7", '"text"', ""])(
  "a line of it that says nothing is passed over: %s",
  (line) => {
    expect(fieldsOf(line)).toEqual({});
    const told = { task: "worker:0", container: first };
    expect(tenanciesOf(linesOf(line, { task: "worker:0" }, { container: first }, told, line))).toHaveLength(1);
  },
);
