import { execFileSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { hiddenExit, wantsPipefailOfSh } from "../../../src/job/diagnosis/hidden-exit.ts";

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), "hidden-"));
  const failing = '#!/bin/bash\necho said\n[[ " $* " == *" OK "* ]] || exit 3\n';
  for (const [name, text] of Object.entries({ python3: failing, train: failing, sudo: '#!/bin/bash\nexec "$@"\n' })) {
    writeFileSync(path.join(folder, name), text);
    chmodSync(path.join(folder, name), 0o755);
  }
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Whether bash says that all went well, where every program fails but those that are given OK. */
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
    ["sh -c 'python3 train.py; exit $?' ; exit 0", "sequence"],
    ["sh -c 'python3 train.py; exit $?'; true", "sequence"],
    ['bash -c "python3 train.py; exit $?"; echo done', "sequence"],
    ["python3 train.py & wait $!; true", "sequence"],
    ['python3 train.py & wait "$!"; echo done', "sequence"],
    ["(python3 train.py) & wait $!; true", "sequence"],
    ["echo a | xargs python3 || :", "or"],
    ["echo a | xargs -n 1 python3; true", "sequence"],
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
    ["case x in x) python3 train.py; echo done;; esac", "sequence"],
    ["case x in\n  (x|y) python3 train.py | tee log ;;\n  *) exit 1\nesac", "pipe"],
    ["case x in x) python3 train.py & ;; esac", "background"],
    ["case x in x) python3 train.py;; esac; echo done", "sequence"],
    ["run() { python3 train.py; echo done; }; run", "sequence"],
    ["function run { python3 train.py | tee log; }\nrun --x 1", "pipe"],
    ["run() { python3 train.py; return 0; }; run", "sequence"],
    ["run() { python3 train.py; }; run || true", "or"],
    ["for i in 1 2; do python3 train.py; echo $i; done", "sequence"],
    ["for i in 1 2; do python3 train.py | tee log; done", "pipe"],
    ["while python3 train.py; do echo again; done", "condition"],
    ["python3 - <<EOF | tee log\nprint(1)\nEOF", "pipe"],
    ["python3 - <<'EOF'\nprint(1)\nEOF\necho done", "sequence"],
    ["python3 - <<-EOF || true\n\tprint(1)\n\tEOF", "or"],
    ["python3 train.py || /bin/true", "or"],
    ["python3 train.py || exit 0", "or"],
    ["timeout 5 python3 train.py || :", "or"],
    ["python3 train.py; true", "sequence"],
    ["python3 train.py\n:", "sequence"],
    ["nohup python3 train.py > log & sleep 0", "background"],
    ["python3 train.py & python3 other.py & wait", "background"],
    ['export X="$(python3 train.py)"', "substitution"],
    ["x=$(python3 train.py); echo $x", "sequence"],
    ["eval 'python3 train.py | tee log'", "pipe"],
    ["(cd . && python3 train.py); echo done", "sequence"],
    ["(python3 train.py; echo done) > log", "sequence"],
    ["if [ -d . ]; then python3 train.py; echo done; else python3 other.py; fi", "sequence"],
    ["python3 train.py \\\n  --x 1 | tee log", "pipe"],
    ["python3 train.py; echo done; exit $?", "sequence"],
    ['python3 train.py; echo done; exit "${?}"', "sequence"],
    ["python3 train.py; echo done; exit ${PIPESTATUS[0]}", "sequence"],
    ["python3 train.py | tee log; echo done; exit ${PIPESTATUS[0]}", "pipe"],
    ["python3 train.py | tee log; exit $?", "pipe"],
    ["run() { python3 train.py; echo done; return $?; }; run", "sequence"],
    ["trap 'exit 0' INT TERM EXIT; python3 train.py", "trap"],
    ["coproc python3 train.py", "background"],
    ["sudo python3 train.py; true", "sequence"],
    ["(exec python3 train.py); echo done", "sequence"],
    ["exec python3 train.py & wait", "background"],
    ["exec > >(cat); python3 train.py; echo done", "sequence"],
    ["set -o pipefail; sh -c 'python3 train.py | tee log'", "pipe"],
    ["set -e; bash -c 'python3 train.py; echo done'", "sequence"],
    ["set -e; x=1 && python3 train.py && echo; echo done", "unstopped"],
    ["set -e; run() { python3 train.py; echo done; }; run || exit 1", "unstopped"],
    ["set -e; (python3 train.py; echo done) || exit 1", "unstopped"],
    ["set -e; if { python3 train.py; echo done; }; then echo ok; fi", "unstopped"],
    ["set -e; run() { for i in 1 2; do python3 train.py; done; echo; }; run && echo ok", "unstopped"],
    ["set -e; x=$(python3 train.py; echo done)", "unstopped"],
    ["python3 a.py & python3 b.py OK", "beside"],
    ["python3 a.py & exec python3 b.py OK", "beside"],
    ["(python3 a.py &); python3 b.py OK", "beside"],
    ["nohup python3 a.py > log & python3 b.py --jobs 2 OK", "beside"],
    ["python3 a.py & disown; python3 b.py OK", "beside"],
    ["{ python3 a.py; } & cd . && python3 b.py OK", "beside"],
    ["set -e; python3 a.py & python3 b.py OK", "beside"],
    ["python3 a.py & python3 b.py OK & wait", "background"],
    ["for i in 1 2; do python3 $i & done; wait", "background"],
    ["python3 a.py; echo $?", "sequence"],
    ['python3 a.py; echo "exit code $?"', "sequence"],
    ["python3 a.py; code=$?; echo done", "sequence"],
    ["python3 a.py; code=$?; echo ended with $code", "sequence"],
    ["python3 a.py | tee log; echo ${PIPESTATUS[0]}", "pipe"],
    ["dash -c 'python3 a.py; echo done'", "sequence"],
    ["/bin/sh -c 'python3 a.py; echo done'", "sequence"],
    ["bash -lc 'python3 a.py; echo done'", "sequence"],
    ["dash -c 'python3 a.py &> log'", "ampersand"],
    ["dash -ec 'python3 a.py &>> log; echo done'", "ampersand"],
    ["sh -ec 'python3 a.py | tee log'", "pipe"],
    ["python3 a.py; rm -f log", "sequence"],
    ["python3 a.py ; : ; :", "sequence"],
    ["python3 a.py\n\n\n# done\necho done", "sequence"],
    ["python3 a.py || { echo failed; }", "or"],
    ["python3 a.py && echo ok || echo failed", "or"],
    ["[ -f /nope ] || python3 a.py || true", "or"],
    ["case $HOME in *) python3 a.py || true;; esac", "or"],
    ["python3 a.py; cat log || true", "sequence"],
    ["if ! python3 a.py; then echo failed; fi", "condition"],
    ["if python3 a.py; then :; else echo failed; fi", "condition"],
    ["time (python3 a.py; echo)", "sequence"],
    ["(python3 a.py) || :", "or"],
    ["{ python3 a.py && echo; } | cat", "pipe"],
    ["tee log < <(python3 a.py)", "substitution"],
    ["python3 a.py | grep -v x || true", "pipe"],
    ["python3 -u a.py 2>&1 | tee log | cat", "pipe"],
    ["python3 a.py | while read l; do echo $l; done", "pipe"],
    ["python3 a.py | sed s/a/b/ > log", "pipe"],
    ["timeout 5 python3 a.py; echo done", "sequence"],
    ['eval "python3 a.py; echo done"', "sequence"],
    ["set +e; python3 a.py; set -e; echo done", "unstopped"],
    ["set -e; python3 a.py | tee log; echo done", "pipe"],
    ["set -e; ! python3 a.py; echo done", "negation"],
    ["set -e; python3 a.py || true; echo done", "or"],
    ["set -e; echo $(python3 a.py); echo done", "substitution"],
    ["set -e; readonly x=$(python3 a.py); echo done", "substitution"],
    ["declare x=$(python3 a.py)", "substitution"],
    ["x=$(python3 a.py | tail -1); echo $x", "pipe"],
    ["pushd .; python3 a.py; popd", "sequence"],
    ["command python3 a.py; true", "sequence"],
    ["run() ( python3 a.py; echo ); run", "sequence"],
  ])("%j", (command, how) => {
    expect(hides(command)).toBe(true);
    expect(hiddenExit(command)?.hidden).toBe(how);
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
    "set -e; cd . && python3 train.py; echo done",
    "set -e; cd . && python3 train.py && echo ok",
    "set -e; run() { python3 train.py; echo done; }; run",
    "set -e; [ -f x ] && echo x; python3 train.py; echo done",
    "set -eo pipefail; (python3 train.py; echo done) | cat; echo done",
    "set -e; python3 train.py || exit 1; echo done",
    "sh -ec 'python3 train.py; echo done'",
    "exec python3 train.py; echo never",
    "X=1 exec python3 train.py; echo never",
    "cd . && exec python3 train.py; echo never",
    "python3 train.py; exit $?",
    'python3 train.py; exit "$?"',
    "python3 train.py | tee log; exit ${PIPESTATUS[0]}",
    "if python3 train.py; then echo ok; else exit $?; fi",
    "python3 train.py || exit $?",
    "run() { python3 train.py; return $?; }; run",
    "trap 'exit $?' EXIT; python3 train.py",
    "trap 'exit 0' INT TERM; python3 train.py",
    "cat /dev/null | python3 train.py",
    "cd . && exec python3 train.py",
    "mkdir -p x; python3 train.py",
    "python3 prepare.py; python3 train.py",
    "python3 train.py || exit 1",
    "python3 train.py & wait $!",
    "set -e; python3 train.py & wait $!; echo done",
    "python3 train.py & wait $!; exit $?",
    "python3 train.py & wait $! || exit 1; echo done",
    "sh -c 'python3 train.py; exit $?'",
    "python3 train.py; code=$?; echo end; exit $code",
    "python3 train.py | tee log; exit ${PIPESTATUS[0]}",
    "python3 train.py > >(tee log)",
    "x=$(python3 lr.py) && ./train $x",
    "python3 train.py --lr $(python3 lr.py) --text 'a | b; c || d &'",
    "bash -o pipefail -c 'python3 train.py | tee log'",
    "FOO=1 timeout 5 python3 train.py",
    "time python3 train.py",
    "case x in x) python3 train.py;; *) echo none; exit 1;; esac",
    "case x in x) python3 train.py || exit 1; echo done;; esac",
    "run() { python3 train.py; }; run",
    "unused() { python3 other.py; echo; }; python3 train.py",
    "for i in 1 2; do python3 train.py || exit 1; done",
    "for i in 1 2 3; do python3 train.py && break; done",
    "for i in 1 2 3; do if python3 train.py; then exit 0; fi; done; exit 1",
    "n=0; until python3 train.py; do n=$((n+1)); [ $n -ge 3 ] && exit 1; done",
    "while ! python3 ready.py; do break; done; python3 train.py",
    "while read x; do echo $x; done < /dev/null; python3 train.py",
    "python3 - <<EOF\nprint(1); x | tee log || true\nEOF",
    "cat > run.sh <<'EOF'\npython3 train.py | tee log\nEOF\npython3 train.py",
    "cat <<EOF > a <<END > b\nx || y &\nEOF\npython3 x; true\nEND\npython3 train.py",
    "python3 train.py <<< 'x; y | z'",
    "python3 train.py # | tee log; true",
    "python3 prepare.py || true; python3 train.py",
    "python3 -m pip install x | tail -1; python3 train.py",
    "if python3 -c 'import torch'; then echo yes; fi; python3 train.py",
    "if ! python3 train.py; then echo failed; exit 1; fi",
    "if python3 train.py; then echo ok; else exit 1; fi",
    "if nvidia-smi; then python3 train.py; else python3 other.py; fi",
    "python3 train.py && touch ok; test -f ok",
    "python3 train.py; [ -f model.pt ]",
    "python3 train.py && exit 0; exit 1",
    "python3 train.py || { echo failed; false; }",
    "python3 train.py || (echo failed; exit 1)",
    "[ -f x ] || python3 train.py",
    "[ -d . ] && python3 train.py || python3 other.py",
    "python3 a.py & python3 b.py OK; wait $!",
    "python3 a.py & P=$!; python3 b.py OK; wait $P",
    "python3 a.py & wait %1",
    "for i in 1 2; do python3 $i & done; for j in $(jobs -p); do wait $j; done",
    "python3 a.py; exit",
    "python3 a.py || exit",
    "python3 a.py || echo failed && exit 1",
    "python3 a.py; code=$?; echo $code; exit $code",
    "python3 a.py; [ $? -eq 0 ]",
    "python3 a.py 2> >(tee log >&2)",
    "trap : EXIT; python3 a.py",
    "x=$(python3 a.py) y=1",
    "set -e; x=$(python3 a.py); echo done",
    "sh -c 'set -e; python3 a.py; echo done'",
    "sh -c 'python3 a.py || exit 1'",
    "bash -euo pipefail -c 'python3 a.py | tee log; echo done'",
    "bash -c 'python3 a.py &> log'",
    "echo 1 | xargs python3",
    'for r in 0 1; do python3 train.py & pids="$pids $!"; done; for p in $pids; do wait $p || exit 1; done',
    "export X=$(python3 port.py); python3 train.py",
    "set -o errexit -o pipefail; python3 train.py | tee log; echo done",
    "bash -ec 'python3 train.py; echo done'",
    "trap 'exit 1' ERR; python3 train.py; echo done",
    "exec > >(cat) 2>&1; python3 train.py",
    'echo "python3 train.py || true"; python3 train.py',
    "python3 train.py --json '{\"a\": 1}' --b {1,2} --re 'a|b' --c a\\;b",
    'set -- a b; python3 train.py "$@"',
    "(",
    "if python3 train.py; then",
    "case x in",
  ])("%j", (command) => {
    expect(hides(command)).toBe(false);
    expect(hiddenExit(command)).toBeUndefined();
  });

  test.each([
    "python3 a.py || true; python3 b.py OK",
    "python3 a.py || python3 b.py OK",
    "python3 a.py & sleep 0; kill $!; python3 b.py OK",
    "python3 a.py & trap 'kill $!' EXIT; python3 b.py OK",
    "python3 a.py; test -d .",
    "while ! python3 a.py; do break; done",
  ])("nor of one that was meant so: %j", (command) => {
    expect(hides(command)).toBe(true);
    expect(hiddenExit(command)).toBeUndefined();
  });

  test("whatever is written: no text of shell words keeps it from an answer", () => {
    expect(hiddenExit("(".repeat(20_000))).toBeUndefined();
    const word = fc.constantFrom(
      ...["if", "then", "else", "fi", "for", "do", "done", "case", "in", "esac", "{", "}", "f()", "!", "python3 a.py"],
      ...["(", ")", ";", ";;", "&", "&&", "|", "||", "\n", "'", '"', "`", "$(", "<<EOF", "<<", "#", "\\", "f", "x"],
    );
    fc.assert(
      fc.property(fc.array(word, { maxLength: 25 }), (words) => {
        expect(() => hiddenExit(words.join(" "))).not.toThrow();
      }),
      { numRuns: 2_000 },
    );
  });

  test.each([
    ["sh -c 'set -o pipefail; python3 a.py | tee log'", true],
    ["sh -c 'cd x; set -euo pipefail\npython3 a.py'", true],
    ["/bin/sh -eo pipefail -c 'python3 a.py | tee log'", true],
    ['cd x && dash -c "set -o pipefail; python3 a.py"', true],
    ["bash -c 'set -o pipefail; python3 a.py | tee log'", false],
    ["set -o pipefail; sh -c 'python3 a.py'", false],
    ["sh train.sh 'set -o pipefail'", false],
    ["set -o pipefail; python3 a.py", false],
  ])("sh that is told pipefail, which dash may not know: %j is %j", (command, wants) => {
    expect(wantsPipefailOfSh(command)).toBe(wants);
  });

  test("and of pipes where the job sets pipefail for all, but of a shell within it", () => {
    expect(hiddenExit("python3 train.py | tee log", { pipefail: true })).toBeUndefined();
    expect(hiddenExit("bash -c 'python3 train.py | tee log'", { pipefail: true })).toEqual({
      hidden: "pipe",
      inside: "bash",
    });
  });
});
