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
