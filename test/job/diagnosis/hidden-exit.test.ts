import { execFileSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { hiddenExit } from "../../../src/job/diagnosis/hidden-exit.ts";

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), "hidden-"));
  for (const name of ["python3", "train"]) {
    writeFileSync(path.join(folder, name), "#!/bin/bash\necho said\nexit 3\n");
    chmodSync(path.join(folder, name), 0o755);
  }
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Whether bash says that all went well, where every program fails. */
function hides(command: string): boolean {
  const env = { ...process.env, PATH: `${folder}:${process.env.PATH}` };
  try {
    execFileSync("/bin/bash", ["-c", command], { cwd: folder, env, stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

describe("a command that succeeds though its program failed", () => {
  test.each([
    ["python3 train.py | tee log", "pipe"],
    ["python3 train.py 2>&1 | tee log", "pipe"],
    ["python3 train.py |& tee log", "pipe"],
    ["time python3 train.py | cat", "pipe"],
    ["./train --x 'a b' | tee -a log", "pipe"],
    ["cd . && python3 train.py | tee log", "pipe"],
    ["(python3 train.py | tee log)", "pipe"],
    ["{ python3 train.py | tee log; }", "pipe"],
    ["bash -c 'python3 train.py | tee log'", "pipe"],
    ["exec python3 train.py | tee log", "pipe"],
    ["python3 train.py; echo done", "sequence"],
    ["python3 train.py\necho done", "sequence"],
    ["python3 train.py; exit 0", "sequence"],
    ["python3 train.py || true", "or"],
    ["python3 train.py || echo failed", "or"],
    ["cd . && python3 train.py || :", "or"],
    ["python3 train.py &", "background"],
    ["python3 train.py & wait", "background"],
    ["echo $(python3 train.py)", "substitution"],
    ["echo `python3 train.py`", "substitution"],
    ["cat <(python3 train.py)", "substitution"],
    ["if python3 train.py; then echo ok; fi", "condition"],
    ["! python3 train.py", "negation"],
    ["trap 'rm -f x; exit 0' EXIT; python3 train.py", "trap"],
  ])("%j", (command, how) => {
    expect(hides(command)).toBe(true);
    expect(hiddenExit(command)).toBe(how);
  });
});

describe("nothing is said of a command whose exit is its program's", () => {
  test.each([
    "python3 train.py",
    "python3 train.py > log 2>&1",
    "python3 train.py &> log",
    "set -o pipefail; python3 train.py | tee log",
    "set -eo pipefail; python3 train.py | tee log; echo done",
    "set -e; python3 train.py; echo done",
    "cat /dev/null | python3 train.py",
    "cd . && exec python3 train.py",
    "mkdir -p x; python3 train.py",
    "python3 prepare.py; python3 train.py",
    "python3 train.py || exit 1",
    "python3 train.py & wait $!",
    "python3 train.py; code=$?; echo end; exit $code",
    "python3 train.py | tee log; exit ${PIPESTATUS[0]}",
    "python3 train.py > >(tee log)",
    "x=$(python3 lr.py) && ./train $x",
    "python3 train.py --lr $(python3 lr.py) --text 'a | b; c || d &'",
    "bash -o pipefail -c 'python3 train.py | tee log'",
    "FOO=1 timeout 5 python3 train.py",
    "time python3 train.py",
  ])("%j", (command) => {
    expect(hides(command)).toBe(false);
    expect(hiddenExit(command)).toBeUndefined();
  });

  test("and of pipes where the job sets pipefail for all, but of a shell within it", () => {
    expect(hiddenExit("python3 train.py | tee log", { pipefail: true })).toBeUndefined();
    expect(hiddenExit("bash -c 'python3 train.py | tee log'", { pipefail: true })).toBe("pipe");
  });
});
