import { describe, expect, test } from "@jest/globals";
import { fromTonyArguments } from "../../../client/command-line/tony-arguments.ts";

describe("TonY's command line", () => {
  test("gives our own long options with one dash the form with two, and leaves short ones alone", () => {
    expect(fromTonyArguments(["submit", "-detach", "-dry-run", "-queue=ml", "-h", "-f"])).toEqual([
      ...["submit", "--detach", "--dry-run", "--queue=ml", "-h", "-f"],
    ]);
  });

  test("gives a long option with one dash the form with two", () => {
    expect(fromTonyArguments(["submit", "-executes", "train.py", "-debug"])).toEqual([
      "submit",
      "--executes=train.py",
      "--debug",
    ]);
  });

  test("takes both forms of conf, mixed, in their order", () => {
    expect(fromTonyArguments(["--conf", "job.xml", "-conf", "tony.worker.memory=4g", "--conf=a=b"])).toEqual([
      "--conf=job.xml",
      "--conf=tony.worker.memory=4g",
      "--conf=a=b",
    ]);
  });

  test("gives an option the next word even where that begins with a dash", () => {
    expect(fromTonyArguments(["--task_params", "--steps 5 -v"])).toEqual(["--task_params=--steps 5 -v"]);
  });

  test("leaves an option whose value is missing for the parser to refuse", () => {
    expect(fromTonyArguments(["-executes", "-src_dir", "src"])).toEqual(["--executes", "--src_dir=src"]);
  });

  test("leaves our own options, short ones, and everything after -- alone", () => {
    const words = ["logs", "-f", "--logs", "all", "--", "-executes", "x"];
    expect(fromTonyArguments(words)).toEqual(words);
  });

  test("keeps newlines in values", () => {
    expect(fromTonyArguments(["-executes=a\nb"])).toEqual(["--executes=a\nb"]);
  });
});
