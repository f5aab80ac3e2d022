import { expect, test } from "@jest/globals";
import { exitMeaning } from "../../../../am/core/failures/exit-status.ts";

const program = { class: "program", machine: false };
const infrastructure = { class: "infrastructure", machine: false };
const machine = { class: "infrastructure", machine: true };

test.each([
  ["preempted", -102, [], infrastructure],
  ["too much virtual memory", -103, [], program],
  ["too much memory", -104, [], program],
  ["full or broken disks", -101, [], machine],
  ["a lost node", -100, ["Container released on a *lost* node"], machine],
  ["given, and not started in time", -100, ["Container expired since it was unused"], infrastructure],
  ["ended by the ResourceManager", -106, [], infrastructure],
  ["too many logs", -109, [], program],
  ["an executor that ended by itself", 1, [], machine],
])("whose fault it is: %s", (_what, status, words, fault) => {
  expect(exitMeaning(status, words)).toMatchObject(fault);
});

test.each([137, 143])("a container that ended with %i was killed from outside", (status) => {
  expect(exitMeaning(status, [])).toEqual({ ...machine, code: "container-killed" });
});
