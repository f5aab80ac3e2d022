import { describe, expect, it } from "@jest/globals";
import { mainThread, placeOf } from "../../../src/job/diagnosis/python-stacks.ts";

const packages = "/mnt/venv/lib/python3.11/site-packages";

/** faulthandler's words of a main thread with these calls, innermost first: file:line in name. */
function stack(...calls: string[]): string {
  const lines = calls.map((call) => call.replace(/^(.*):(\d+) (\S+)$/, '  File "$1", line $2 in $3'));
  return ["Thread 0x00007f01 (most recent call first):", '  File "loader.py", line 3 in fetch', ""]
    .concat("Current thread 0x00007f02 (most recent call first):", lines, "")
    .join("\n");
}

describe("where a program stood", () => {
  const dump = [
    "step 7",
    "Fatal Python error: Aborted",
    "",
    "Thread 0x00007f01 (most recent call first):",
    '  File "loader.py", line 3 in fetch',
    "",
    "Current thread 0x00007f02 (most recent call first):",
    '  File "train.py", line 88 in all_reduce',
    '  File "train.py", line 120 in <module>',
    "",
    "Extension modules: numpy (total: 1)",
  ];

  it("is the last thread of a dump, which is the main one, its innermost call first", () => {
    expect(mainThread(dump.join("\n"))).toEqual(dump.slice(6, 9));
  });

  it("is not known without a dump", () => {
    expect(mainThread("step 7\nThread pool closed\n")).toBeUndefined();
    expect(placeOf("")).toBeUndefined();
  });
});

describe("its place", () => {
  it("is the line of the job's own code, with the call that it led to", () => {
    const written = stack(
      `${packages}/torch/distributed/distributed_c10d.py:2501 all_reduce`,
      `${packages}/torch/distributed/c10d_logger.py:81 wrapper`,
      "/data/c_01/train.py:27 <module>",
    );
    expect(placeOf(written)).toMatchObject({ where: "in all_reduce train.py:27", isOwn: true, isExchange: true });
  });

  it("is that line alone where it calls nothing written in Python", () => {
    expect(placeOf(stack("/data/c_01/train.py:26 <module>"))).toMatchObject({
      where: "at train.py:26",
      isOwn: true,
      isExchange: false,
    });
  });

  it("names the function that the line is in, where it is in one", () => {
    expect(placeOf(stack("/data/c_01/train.py:31 load_batch", "/data/c_01/train.py:9 <module>"))).toMatchObject({
      where: "at train.py:31 (load_batch)",
    });
  });

  it("is no exchange where a library computes", () => {
    const written = stack(`${packages}/torch/autograd/graph.py:824 _engine_run_backward`, "/data/train.py:30 step");
    expect(placeOf(written)).toMatchObject({ where: "in _engine_run_backward train.py:30", isExchange: false });
  });

  it("is a library's where none of the job's code runs", () => {
    const written = stack("/usr/lib/python3.11/selectors.py:415 select", `${packages}/torch/distributed/run.py:9 main`);
    expect(placeOf(written)).toMatchObject({ where: "in select selectors.py:415", isOwn: false });
  });
});
