import { describe, expect, test } from "@jest/globals";
import { launchedFileOf, moduleOf, programFileOf, readPathsOf } from "../../../src/job/diagnosis/program-file.ts";

describe("the file that a command runs", () => {
  test.each([
    ["python3 train.py --steps 3", "train.py"],
    ["OMP_NUM_THREADS=1 venv/bin/python3.11 -u src/train.py", "src/train.py"],
    ["bash -ex run.sh && echo done", "run.sh"],
    ["./x", "x"],
    ["scripts/run --fast", "scripts/run"],
    ["bash -c 'python3 train.py --steps 3'", "train.py"],
    ['LR=1 exec /bin/sh -ec "exec python3 src/train.py"', "src/train.py"],
    ["bash -c \"bash -lc 'python3 train.py'\"", "train.py"],
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
    "bash -c 'cd src && python3 train.py'",
    "bash -c 'python3 a.py' && python3 b.py",
    "bash -c 'python3 '\"$PROGRAM\"",
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
    ["bash -c 'torchrun --nproc_per_node 2 train.py'", "train.py"],
    ["python3 train.py", undefined],
  ])("of %j is %j", (command, file) => {
    expect(launchedFileOf(command)).toBe(file);
  });
});

describe("the module that a command runs", () => {
  test.each([
    ["python3 -m train --lr 1", "train"],
    ["A=1 venv/bin/python -u -m bert.train", "bert.train"],
    ["bash -c 'python3 -m train'", "train"],
    ["python3 train.py -m x", undefined],
    ["torchrun -m train", undefined],
    ["python3 -m $MODULE", undefined],
    ["cd src && python3 -m train", undefined],
  ])("of %j is %j", (command, module) => {
    expect(moduleOf(command)).toBe(module);
  });
});

describe("what a program may read by its arguments", () => {
  test.each([
    ["python3 train.py --data dat/ --config=conf/a.yaml part.csv", ["train.py", "dat/", "conf/a.yaml", "part.csv"]],
    ["python3 -m train --out out/ --save_path=x/y --log-dir logs/", []],
    ["python3 -m train --lr 0.1 --n 5 --url hdfs://a/b.csv --abs /data/a --up ../b.csv -- name", []],
    ["python3 -m train data/a > log/b.txt", ["data/a"]],
    ["python3 -m train; cat data/a", []],
  ])("in %j is %j", (command, paths) => {
    expect(readPathsOf(command)).toEqual(paths.map((path) => path.replace(/\/$/, "")));
  });
});
