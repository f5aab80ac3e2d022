import { expect, test } from "@jest/globals";
import { mainThreadFailed, START_LINE } from "../../../scripts/cluster/processes.mjs";

const failure =
  'Exception in thread "main" java.io.IOException: Unable to initialize WebAppContext\n\tat org.apache…\n';

test("a daemon whose main thread ended by an exception has failed, though its process may stay", () => {
  expect(mainThreadFailed(`${START_LINE}INFO Server: Started\n${failure}`)).toBe(true);
  expect(mainThreadFailed(`${START_LINE}INFO Server: Started\n`)).toBe(false);
  expect(mainThreadFailed("")).toBe(false);
});

test("what an earlier start failed by says nothing of the present one", () => {
  expect(mainThreadFailed(`${START_LINE}${failure}${START_LINE}INFO Server: Started\n`)).toBe(false);
});
