import { ExitCode, UserError } from "../../src/errors.ts";
import { errorCode, errorMessage } from "../../src/hadoop/errors.ts";
import { durationWords } from "../../src/job/reasons/words.ts";
import type { JobOutcome, JobStatus } from "../../src/job/status.ts";
import type { ClientContext } from "../context.ts";
import type { MasterConnection } from "../master/master-connection.ts";
import type { ForwardJson } from "../printed-json.ts";
import { carriedBy } from "./carry-connection.ts";
import { followRunning } from "./follow-running.ts";
import { LocalPort, type LocalPortChoice } from "./local-port.ts";
import { isThisMachine } from "./this-machine.ts";

/** Where connections go: a port on the node of a task's container. */
export interface Destination {
  readonly task: string;
  readonly port: number;
}

export interface ForwardOptions {
  /** Finds the destination in the job's current status; undefined: there is none. */
  readonly find: (status: JobStatus) => Destination | undefined;
  /** How long there may be no destination at first, and the error then; absent: until the job ends. */
  readonly patience?: {
    readonly waitMs: (status: JobStatus) => number;
    readonly missing: (status: JobStatus) => UserError;
  };
  /** Nothing is forwarded until a server listens at the destination; a running program has this long to start it. Absent: not awaited. */
  readonly listensWithinMs?: number;
  /** Says where the port is. @param address `127.0.0.1:6006` */
  readonly show: (address: string, destination: Destination) => string;
  /** The port on this machine; default the destination's, or any when that is taken. */
  readonly localPort: number | undefined;
  readonly json: boolean;
  readonly conf: readonly string[] | undefined;
}

/** Where connections go now, and through which AM. */
interface Way {
  readonly master: MasterConnection;
  readonly destination: Destination;
}

/**
 * Forwards connections from this machine to a task's node until the job ends or a signal arrives.
 * @throws UserError: there is no destination, or the port is taken; ApiError: the AM refuses it
 */
export async function forwardUntilEnd(
  id: string,
  options: ForwardOptions,
  context: ClientContext,
  heard: typeof followRunning = followRunning,
): Promise<ExitCode> {
  const leave = new AbortController();
  const unwatch = watchLeaving(() => leave.abort());
  try {
    const outcome = await forwardUntil(leave.signal, id, options, context, heard);
    if (outcome !== undefined)
      context.output.problem(`${id} has ended (${outcome.result}): nothing is forwarded any more`);
    return ExitCode.succeeded;
  } finally {
    unwatch();
  }
}

/** The same until the signal aborts. @param heard messages of the job's AMs @returns how the job ended, where its AM reported that */
export async function forwardUntil(
  signal: AbortSignal,
  id: string,
  options: ForwardOptions,
  context: ClientContext,
  heard: typeof followRunning = followRunning,
): Promise<JobOutcome | undefined> {
  const refusal = new AbortController();
  const tell = onlyNews((text) => context.output.problem(text));
  const refused = (error: unknown) =>
    errorCode(error) === "API_FORBIDDEN" ? refusal.abort(error) : tell(errorMessage(error));
  const { patience } = options;
  const sinceMs = context.now();
  let way: Way | undefined;
  let foundAtMs: number | undefined;
  let local: LocalPort | undefined;
  try {
    const until = AbortSignal.any([signal, refusal.signal]);
    for await (const { master, update } of heard(id, options.conf, context, until)) {
      if (update.type === "outcome") return update.outcome;
      const { status } = update;
      const destination = options.find(status) ?? way?.destination;
      if (destination === undefined) {
        if (patience === undefined) continue;
        if (context.now() - sinceMs >= patience.waitMs(status)) throw patience.missing(status);
        tell("The job has not opened its port yet: waiting for it");
        continue;
      }
      if (way === undefined) await master.checkSessions();
      const next: Way = { master, destination };
      const { listensWithinMs } = options;
      if (local === undefined && listensWithinMs !== undefined && !(await listens(next))) {
        foundAtMs ??= context.now();
        const silence = `${destination.task} runs but does not listen on its port ${destination.port}`;
        const limit = durationWords(listensWithinMs);
        if (context.now() - foundAtMs >= listensWithinMs)
          throw neverListened(`${silence} after ${limit}`, id, destination);
        tell(`${silence} yet: waiting for it, up to ${limit}`);
        continue;
      }
      way = next;
      local ??= await openLocal(options, await portChoice(options, destination, status), destination, context, {
        serve: carriedBy(() => openUnlessLost(way ?? next)),
        failed: tell,
        refused,
      });
    }
    refusal.signal.throwIfAborted();
    return undefined;
  } finally {
    local?.close();
  }
}

function neverListened(what: string, id: string, { task }: Destination): UserError {
  const message = `${what}: tony-ts logs ${id} ${task} shows what it prints; the job runs on`;
  return new UserError(message, { code: "NOT_LISTENING", exitCode: ExitCode.cluster });
}

/** Whether a server accepts a connection there. */
async function listens(way: Way): Promise<boolean> {
  const session = openSession(way);
  let isOpen = false;
  const received = session.receive(async ({ type }) => {
    isOpen ||= type === "started";
    session.cancel();
  });
  await Promise.all([session.over, received]);
  return isOpen;
}

async function openLocal(
  { json, show }: ForwardOptions,
  choice: LocalPortChoice,
  destination: Destination,
  { output }: ClientContext,
  options: Parameters<typeof LocalPort.listen>[1],
): Promise<LocalPort> {
  const { task, port } = destination;
  const local = await LocalPort.listen(choice, options);
  const { address } = local;
  if (json) output.jsonLine({ address, task, port } satisfies ForwardJson);
  else output.print(show(address, destination));
  return local;
}

/** While the AM is lost and the next one is awaited, there is none to ask. */
function openUnlessLost(way: Way): ReturnType<typeof openSession> | undefined {
  return way.master.isClosed ? undefined : openSession(way);
}

function openSession({ master, destination: { task, port } }: Way): ReturnType<MasterConnection["openSession"]> {
  return master.openSession(task, { type: "connection", port });
}

/**
 * On the task's own node the forwarded port would be ours as soon as the program releases it: its executor, which checks whether the port
 * is served, would find our listener.
 */
async function portChoice(
  { localPort }: ForwardOptions,
  { task, port }: Destination,
  { tasks }: JobStatus,
): Promise<LocalPortChoice> {
  const host = tasks.find((one) => one.task === task)?.host;
  const isNode = host !== undefined && (await isThisMachine(host));
  if (localPort === undefined) return isNode ? { rather: 0 } : { rather: port };
  if (!isNode || localPort !== port) return { exactly: localPort };
  const message = `--local-port ${port}: this machine is the node of ${task}, and that port is the task's own; name another, or leave it out for any free one`;
  throw new UserError(message, { code: "LOCAL_PORT_TAKEN" });
}

/** `127.0.0.1:8080 is forwarded to port 8080 of worker:0; Ctrl-C ends it` */
export function leadsTo(shown: string, { task, port }: Destination): string {
  return `${shown} is forwarded to port ${port} of ${task}; Ctrl-C ends it`;
}

/** A signal ends the forwarding, not the job. @returns a function that stops watching */
export function watchLeaving(leave: () => void): () => void {
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  for (const signal of signals) process.on(signal, leave);
  return () => {
    for (const signal of signals) process.off(signal, leave);
  };
}

/** A browser tries again and again: consecutive repetitions are printed once. */
function onlyNews(say: (text: string) => void): (text: string) => void {
  let last = "";
  return (text) => {
    if (text !== last) say(text);
    last = text;
  };
}
