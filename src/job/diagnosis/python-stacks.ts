import type { TaskPlace } from "../execution.ts";

/** Where one process is in its code, as shown to people. */
export interface Place extends TaskPlace {
  /** Whether a call in the job's own code leads there. */
  readonly isOwn: boolean;
}

const THREAD_START = /^(?:Current thread|Thread) 0x[0-9a-f]+\b.*\(most recent call first\):$/;
const CALL = /^ {2}File "(.*)", line (\d+|\?+) in (.*)$/;
/** How many calls of a stack are shown; a library's are many. */
const MOST_LINES = 20;

/** Files of Python itself and of packages, not of the job. */
const LIBRARY =
  /\/(?:site|dist)-packages\/|\/lib(?:64)?\/python\d[\d.]*\/|\/\.pex\/|\.whl\/|^<frozen |\/sitecustomize\.py$/;
/** The innermost calls of data exchanges between all tasks, by the libraries that frameworks use for them. */
const EXCHANGE =
  /\/(?:torch\/distributed\/(?:distributed_c10d|_functional_collectives|c10d_logger)\.py|horovod\/.*|mpi4py\/.*|deepspeed\/comm\/.*)$/;

/**
 * The main thread in the output of Python's faulthandler: the last one, because the newest come first. Its innermost calls come
 * first. Undefined: there is none.
 */
export function mainThread(written: string): readonly string[] | undefined {
  const lines = written.split(/\r?\n/);
  const start = lines.findLastIndex((line) => THREAD_START.test(line));
  if (start < 0) return undefined;
  const calls = lines.slice(start + 1);
  const end = calls.findIndex((line) => !line.startsWith("  "));
  return lines.slice(start, end < 0 ? undefined : start + 1 + end).slice(0, MOST_LINES);
}

/** Where the main thread of a Python program is; undefined: the output does not include it. */
export function placeOf(written: string): Place | undefined {
  const lines = mainThread(written);
  if (lines === undefined) return undefined;
  const frames = lines.flatMap((line) => {
    const [, file = "", number = "", name = ""] = CALL.exec(line) ?? [];
    return file === "" ? [] : [{ file, name, at: `${file.slice(file.lastIndexOf("/") + 1)}:${number}` }];
  });
  const [inner] = frames;
  if (inner === undefined) return undefined;
  const own = frames.find(({ file }) => !LIBRARY.test(file));
  const inFunction = inner.name === "<module>" ? "" : ` (${inner.name})`;
  const where = own === inner ? `at ${own.at}${inFunction}` : `in ${inner.name} ${(own ?? inner).at}`;
  return { where, isOwn: own !== undefined, isExchange: own !== inner && EXCHANGE.test(inner.file), lines };
}
