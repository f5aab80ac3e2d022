import { describe, expect, test } from "@jest/globals";
import { launchedFileOf, programFileOf } from "../../../src/job/diagnosis/program-file.ts";

describe("the file that a command runs", () => {
  test.each([
    ["python3 train.py --steps 3", "train.py"],
    ["OMP_NUM_THREADS=1 venv/bin/python3.11 -u src/train.py", "src/train.py"],
    ["bash -ex run.sh && echo done", "run.sh"],
    ["./x", "x"],
    ["scripts/run --fast", "scripts/run"],
  ])("%s", (command, file) => {
    expect(programFileOf(command)).toBe(file);
  });

  test.each([
    "python3 -m train",
    "python3 -c 'import train'",
    "python3 -X dev train.py",
    "python3 /opt/train.py",
    "python3 ../train.py",
    'python3 "$HOME/train.py"',
    "python3",
    "torchrun train.py",
    "cd src && python3 train.py",
    "sleep 60",
    "A=1",
    "",
  ])("is not certain in: %s", (command) => {
    expect(programFileOf(command)).toBeUndefined();
  });
});

describe("the script that a launcher is given", () => {
  test.each([
    ["torchrun --nproc_per_node 2 src/train.py --config x.py", "src/train.py"],
    ["accelerate launch ./train.py", "train.py"],
    ["torchrun /opt/train.py", undefined],
    ["torchrun -m train", undefined],
    ["python3 train.py", undefined],
  ])("of %j is %j", (command, file) => {
    expect(launchedFileOf(command)).toBe(file);
  });
});
