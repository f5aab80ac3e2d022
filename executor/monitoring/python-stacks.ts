import { mkdirSync, readFileSync, realpathSync, truncateSync, writeFileSync } from "node:fs";
import path from "node:path";
import { sleep } from "../../src/hadoop/clock.ts";
import { errorCode } from "../../src/hadoop/errors.ts";
import { STACKS_FOLDER } from "../../src/job/launch/container-names.ts";
import type { ProcessStacks } from "../../src/job/stacks.ts";
import type { ProcessStat, ProcFs } from "../processes/proc-fs.ts";

/**
 * The signal at which a Python program writes the stacks of its threads and goes on: a real-time signal that nothing else is known to
 * use. Without a handler it would end a process, so it is sent only to processes that have both a handler and our file open.
 */
export const STACKS_SIGNAL = 50;

const MODULE = "sitecustomize.py";
const WRITTEN = "stacks";
/** How long one process has to answer; how often to check; how long no new output must come for the answer to be complete. */
const ANSWER_MS = 1_000;
const LOOK_MS = 20;
const MOST_PROCESSES = 64;
const MOST_CHARACTERS = 65_536;

/**
 * Python imports a module of this name from PYTHONPATH whenever it starts. The job's own, if it has one, is imported after it, and finds
 * the module path as if ours were not there. The file is kept open under a descriptor number that nobody relies on.
 */
const SOURCE = `import os as _os
import sys as _sys

_folder = _os.path.dirname(_os.path.abspath(__file__))
try:
    import faulthandler as _faulthandler
    import fcntl as _fcntl

    with open(_os.path.join(_folder, "${WRITTEN}"), "ab") as _file:
        _number = _fcntl.fcntl(_file.fileno(), _fcntl.F_DUPFD_CLOEXEC, 500)
    _faulthandler.register(${STACKS_SIGNAL}, file=_number, all_threads=True)
except Exception:
    pass

_sys.path[:] = [_one for _one in _sys.path if _os.path.abspath(_one) != _folder]
_own = _sys.modules.pop("sitecustomize", None)
try:
    import sitecustomize
except ImportError as _error:
    if getattr(_error, "name", "sitecustomize") != "sitecustomize":
        raise
finally:
    if _own is not None:
        _sys.modules.setdefault("sitecustomize", _own)
`;

/**
 * Enables the Python processes of a program to write their stacks on request.
 * @returns PYTHONPATH with it, for an environment with the given one
 */
export function prepareStacks(workFolder: string, pythonPath: string | undefined): string | undefined {
  const folder = path.join(workFolder, STACKS_FOLDER);
  try {
    mkdirSync(folder, { recursive: true });
    writeFileSync(path.join(folder, MODULE), SOURCE);
    writeFileSync(path.join(folder, WRITTEN), "");
  } catch {
    // A program runs as well without it.
    return pythonPath;
  }
  return pythonPath ? `${folder}:${pythonPath}` : folder;
}

export interface StacksAsk {
  readonly members: readonly ProcessStat[];
  readonly procFs: Pick<ProcFs, "catches" | "executable" | "holds">;
  readonly workFolder: string;
  readonly kill: (pid: number, signal: number) => void;
}

/** Has one Python process after the other write its stacks, and says for every other process why it was not asked. */
export async function takeStacks({ members, procFs, workFolder, kill }: StacksAsk): Promise<readonly ProcessStacks[]> {
  const file = path.join(realpathSync(workFolder), STACKS_FOLDER, WRITTEN);
  const taken: ProcessStacks[] = [];
  for (const { pid, parent } of members.slice(0, MOST_PROCESSES)) {
    const program = procFs.executable(pid);
    if (program === "") continue;
    const process = { pid, parent, program };
    if (!procFs.catches(pid, STACKS_SIGNAL) || !procFs.holds(pid, file)) {
      taken.push({ ...process, why: whyNot(program) });
      continue;
    }
    const stacks = await answerOf(pid, file, kill);
    taken.push(stacks === "" ? { ...process, why: "it does not answer" } : { ...process, stacks });
  }
  return taken;
}

async function answerOf(pid: number, file: string, kill: StacksAsk["kill"]): Promise<string> {
  truncateSync(file);
  try {
    kill(pid, STACKS_SIGNAL);
  } catch (error) {
    if (errorCode(error) !== "ESRCH") throw error;
    return "";
  }
  let seen = "";
  for (let waitedMs = 0; waitedMs < ANSWER_MS; waitedMs += LOOK_MS) {
    await sleep(LOOK_MS);
    const now = readFileSync(file, "utf8");
    if (now !== "" && now === seen) break;
    seen = now;
  }
  return seen.slice(0, MOST_CHARACTERS);
}

function whyNot(program: string): string {
  if (!program.startsWith("python")) return "it is not Python";
  return "this Python has no handler for it: it was started without the program's PYTHONPATH, or has taken the handler away";
}
