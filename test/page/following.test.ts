import { expect, test } from "@jest/globals";
import { Following } from "../../page/following.ts";

const part = { task: "worker:0", stream: "stdout", next: 8, text: "one\ntwo\n", missingBytes: 0, containerId: "c1" };

test("a log that is followed goes on where it was, and is shown line by line", () => {
  const log = new Following("");
  expect(log.wanted("worker:0", "stdout")).toBe("worker:0~stdout~-16384");
  expect(log.take(part, true, "")).toBe(true);
  expect(log.lines).toEqual(["one", "two"]);
  expect(log.wanted("worker:0", "stdout")).toBe("worker:0~stdout~8");
  expect(log.take({ ...part, text: "" }, true, "")).toBe(false);
});

test("a line that is not complete is shown, an empty one too, and nothing is no line", () => {
  const log = new Following("");
  log.take({ ...part, text: "a\r\n\nprogress 1\rprogress 2" }, true, "");
  expect(log.lines).toEqual(["a", "", "progress 1", "progress 2"]);
  expect([log.take({ ...part, text: "", missingBytes: 7 }, true, ""), log.lines.at(-1)]).toEqual([
    true,
    "(7 bytes of it are gone)",
  ]);
});

test("each stream of a task goes on where it was", () => {
  const log = new Following("");
  log.take(part, true, "");
  log.take({ ...part, stream: "stderr", next: 99 }, true, "");
  expect(["stdout", "stderr", "other"].map((stream) => log.wanted("worker:0", stream))).toEqual([
    "worker:0~stdout~8",
    "worker:0~stderr~99",
    "worker:0~other~-16384",
  ]);
});

test("a task that had no container yet has begun with its first one, and goes nowhere else", () => {
  const log = new Following("");
  const { containerId: _none, ...waiting } = { ...part, text: "", next: 0 };
  log.take(waiting, true, "");
  log.take(part, true, "");
  expect(log.lines).toEqual(["one", "two"]);
});

test("of several each line says whose it is; of all only those that hold what is looked for; what is gone is told", () => {
  const log = new Following("");
  log.take({ ...part, missingBytes: 5 }, false, "two");
  expect(log.lines).toEqual(["worker:0 | (5 bytes of it are gone)", "worker:0 | two"]);
});

test("a task that has another container is read there from the beginning", () => {
  const log = new Following("");
  log.take(part, true, "");
  log.take({ ...part, containerId: "c2", text: "within a li", next: 300 }, true, "");
  expect(log.lines.at(-1)).toBe("worker:0 | (goes on in another container)");
  expect(log.wanted("worker:0", "stdout")).toBe("worker:0~stdout~0");
});

test("the ApplicationMaster's lines are shown as it means them, and what is no JSON as it is", () => {
  const log = new Following("");
  const text = `{"level":"info","message":"The job runs.","event":"x"}\nnode: bad option\n`;
  log.take({ ...part, task: "am", text }, true, "");
  expect(log.lines).toEqual(["info   The job runs.", "node: bad option"]);
});
