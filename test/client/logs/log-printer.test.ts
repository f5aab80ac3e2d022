import { expect, test } from "@jest/globals";
import { LogPrinter } from "../../../client/logs/log-printer.ts";
import { recordedContext } from "../support.ts";

test("a task that was started again says so; the AM, which runs on, does not", () => {
  const { output, out, err } = recordedContext({});
  const printer = new LogPrinter(output, false);
  for (const generation of [1, 2, 1]) printer.line("am", { stream: "stdout", line: "{}", generation });
  expect(err.text).toBe("");
  printer.line("worker:0", { stream: "stdout", line: "epoch 1", generation: 2 });
  expect(err.text).toBe("── generation 2 ──\n");
  expect(out.text).toBe("{}\n{}\n{}\nepoch 1\n");
});
