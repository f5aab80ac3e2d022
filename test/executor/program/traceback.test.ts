import { describe, expect, it } from "@jest/globals";
import { lastTraceback } from "../../../executor/program/traceback.ts";

const simple = `epoch 1
Traceback (most recent call last):
  File "train.py", line 88, in collate
    batch = torch.stack(items).repeat(8, 1)
RuntimeError: out of bounds`;

describe("the last Python traceback of an output", () => {
  it("is found whole, with the line that names the exception", () => {
    expect(lastTraceback(`${simple}\n`)).toEqual({
      text: simple.slice(simple.indexOf("Traceback")),
      summary: "RuntimeError: out of bounds",
      isLast: true,
    });
  });

  it.each([
    ["a message that goes on after a colon", "RuntimeError: Error(s) in loading:\nMissing keys\n", true],
    [
      "CUDA's further lines",
      "RuntimeError: CUDA error\nCUDA kernel errors might be asynchronous\nCompile with X\n",
      true,
    ],
    ["an indented line", "RuntimeError: bad\n    in layer 3\n", true],
    ["any other line, which whoever caught it may have written", "RuntimeError: bad\ngoing on\n", false],
  ])("is the last that was said, or not, before %s", (_case, said, isLast) => {
    expect(lastTraceback(`Traceback (most recent call last):\n  File "a.py", line 1\n${said}`)?.isLast).toBe(isLast);
  });

  it("is the one that was not handled, when an exception was raised from another", () => {
    const output = `${simple}\n\nThe above exception was the direct cause of the following exception:\n
Traceback (most recent call last):
  File "train.py", line 12, in <module>
    step()
ValueError: bad batch\n`;
    const found = lastTraceback(output);
    expect(found).toMatchObject({ summary: "ValueError: bad batch", text: expect.stringMatching(/^Traceback /) });
    expect(lastTraceback(output.replace(/^(?=.)/gm, "[rank0]: "))).toEqual(found);
  });

  it("goes without the prefix that a launcher puts before each line", () => {
    const prefixed = simple.replace(/^/gm, "[rank0]: ");
    expect(lastTraceback(prefixed)).toEqual(lastTraceback(simple));
  });

  it("keeps a message of several lines, but not what another program logs after it", () => {
    const output = `${simple}\nExpected 3\n got 4\n[W socket.cpp:601] closing\n`;
    expect(lastTraceback(output)?.text).toMatch(/out of bounds\nExpected 3\n got 4$/);
  });

  it.each([
    ["there is none", "all is well\n"],
    ["it breaks off", 'Traceback (most recent call last):\n  File "train.py", line 1, in <module>\n'],
    ["the output is empty", ""],
  ])("is undefined when %s", (_case, output) => {
    expect(lastTraceback(output)).toBeUndefined();
  });
});
