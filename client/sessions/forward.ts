import { ExitCode, type UserError } from "../../src/errors.ts";
import { errorCode, errorMessage } from "../../src/hadoop/errors.ts";
import type { JobStatus } from "../../src/job/status.ts";
import type { ClientContext } from "../context.ts";
import type { MasterConnection } from "../master/master-connection.ts";
import type { ForwardJson } from "../printed-json.ts";
import { followRunning } from "./follow-running.ts";
import { LocalPort } from "./local-port.ts";

/** Where connections lead: a port of the node of a task's container. */
export interface Destination {
  readonly task: string;
  readonly port: number;
}

export interface ForwardOptions {
  /** Where the job has it now; undefined: nowhere. */
  readonly find: (status: JobStatus) => Destination | undefined;
  /** What to say when it is nowhere. */
  readonly missing: (status: JobStatus) => UserError;
  /** How long it may be nowhere at first. */
  readonly waitMs: (status: JobStatus) => number;
  /** `http://127.0.0.1:6006` */
  readonly show: (address: string) => string;
  /** The port of this machine; default the destination's, or any when that is taken. */
  readonly localPort: number | undefined;
  readonly json: boolean;
  readonly conf: readonly string[] | undefined;
}

/** Where connections lead at present, and by which AM. */
interface Way {
  readonly master: MasterConnection;
  readonly destination: Destination;
}

/**
 * Forwards connections from this machine to a task's node until the job ends or a signal comes.
 * @throws UserError: there is nowhere to lead to, or the port is taken; ApiError: the AM refuses it
 */
export async function forwardUntilEnd(id: string, options: ForwardOptions, context: ClientContext): Promise<ExitCode> {
  const leave = new AbortController();
  const unwatch = watchLeaving(() => leave.abort());
  const tell = onlyNews((text) => context.output.problem(text));
  const sinceMs = context.now();
  let refusal: unknown;
  let way: Way | undefined;
  let local: LocalPort | undefined;
  const refused = (error: unknown) => {
    if (errorCode(error) !== "API_FORBIDDEN") return tell(errorMessage(error));
    refusal = error;
    leave.abort();
  };
  try {
    for await (const { master, update } of followRunning(id, options.conf, context, leave.signal)) {
      if (update.type === "outcome") {
        context.output.problem(`${id} has ended (${update.outcome.result}): nothing is forwarded any more`);
        return ExitCode.succeeded;
      }
      const { status } = update;
      const destination = options.find(status) ?? way?.destination;
      if (destination === undefined) {
        if (context.now() - sinceMs >= options.waitMs(status)) throw options.missing(status);
        tell("The job has not opened its port yet: it is waited for");
        continue;
      }
      const next: Way = { master, destination };
      way = next;
      local ??= await openLocal(options, destination, context, {
        open: () => openSession(way ?? next),
        failed: tell,
        refused,
      });
    }
    if (refusal !== undefined) throw refusal;
    return ExitCode.succeeded;
  } finally {
    local?.close();
    unwatch();
  }
}

async function openLocal(
  { localPort, json, show }: ForwardOptions,
  { task, port }: Destination,
  { output }: ClientContext,
  options: Parameters<typeof LocalPort.listen>[1],
): Promise<LocalPort> {
  const local = await LocalPort.listen(localPort === undefined ? { rather: port } : { exactly: localPort }, options);
  const { address } = local;
  if (json) output.jsonLine({ address, task, port } satisfies ForwardJson);
  else output.print(`${show(address)} leads to port ${port} of ${task}; Ctrl-C ends it`);
  return local;
}

function openSession({ master, destination: { task, port } }: Way): ReturnType<MasterConnection["openSession"]> {
  return master.openSession(task, { type: "connection", port });
}

/** A signal ends it, and nothing of the job. @returns stops it */
function watchLeaving(leave: () => void): () => void {
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  for (const signal of signals) process.on(signal, leave);
  return () => {
    for (const signal of signals) process.off(signal, leave);
  };
}

/** A browser tries again and again: the same words are said once in a row. */
function onlyNews(say: (text: string) => void): (text: string) => void {
  let last = "";
  return (text) => {
    if (text !== last) say(text);
    last = text;
  };
}
