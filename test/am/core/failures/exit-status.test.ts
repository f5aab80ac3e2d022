import { expect, test } from "@jest/globals";
import { exitMeaning } from "../../../../am/core/failures/container-endings.ts";

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
  ["given to an attempt that ended before it ran", -100, ["Container of a completed application"], infrastructure],
  ["ended by the ResourceManager", -106, [], infrastructure],
  ["too many logs", -109, [], program],
  ["an executor that ended by itself", 1, [], machine],
  ["a node that was taken out of the cluster", -100, ["Container released on a *lost* node"], infrastructure, true],
])("an exit status says whose fault it is: %s", (_what, status, words, fault, nodeLeaves = false) => {
  expect(exitMeaning(status, words, nodeLeaves)).toMatchObject(fault);
});

test.each([
  [-1, "No space available in any of the local directories /data/1 on n1/10.0.0.1", "disks-full"],
  [-1000, "java.io.IOException: No space left on device", "disks-full"],
])("a container that its node could not launch for want of disk space has full disks: %i %s", (status, words, code) => {
  expect(exitMeaning(status, [words])).toEqual({ ...machine, code });
  // A program may print the same.
  expect(exitMeaning(1, [words])).toMatchObject({ code: "executor-died" });
});

test.each([137, 143])(
  "a container that ended with %i was ended by a signal, and YARN does not say by whose",
  (status) => {
    expect(exitMeaning(status, [])).toEqual({ ...machine, code: "container-killed" });
  },
);
