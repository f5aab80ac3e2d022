import type { ExitCode } from "../../src/errors.ts";
import { errorMessage } from "../../src/hadoop/errors.ts";
import type { JobText } from "../../src/job/build/load-job.ts";
import type { JobStatus } from "../../src/job/status.ts";
import type { ClientContext } from "../context.ts";
import { FollowView } from "../following/follow-view.ts";
import type { Output } from "../output/output.ts";
import { type Destination, forwardUntil } from "../sessions/forward.ts";
import { notebookDestination } from "../sessions/notebook-job.ts";
import { runSubmission } from "./run-submission.ts";

export interface NotebookChoices {
  /** The token that JupyterLab asks for; only a terminal shows it. */
  readonly token: string;
  readonly localPort: number | undefined;
}

/** More than JupyterLab needs to start on a busy node from a folder that was just unpacked. */
const listensWithinMs = 5 * 60_000;

/** Submits a job with one JupyterLab, forwards a port of this machine to it, and follows it: otherwise like any submission. */
export async function runNotebook(
  text: JobText,
  { token, localPort }: NotebookChoices,
  context: ClientContext,
): Promise<ExitCode> {
  const { output, now } = context;
  const ended = new AbortController();
  let id = "";
  let forwarded: Promise<unknown> | undefined;
  const view = new NotebookView(output, now, () => {
    forwarded ??= forwardUntil(
      ended.signal,
      id,
      { ...forwardOptions(localPort, token, output), conf: confOf(text) },
      context,
    ).catch((error) => output.problem(`The notebook cannot be reached from here: ${errorMessage(error)}`));
  });
  const submitted = (submittedId: string) => (id = submittedId);
  try {
    const choices = { detach: false, json: false, logs: { kind: "none" }, local: false } as const;
    return await runSubmission(text, { ...choices, display: { view, submitted } }, context);
  } finally {
    ended.abort();
    await forwarded;
  }
}

/** What leads to its cluster and its staging folder, as for a command of its own; the site's settings are read again. */
export function confOf({ settings }: JobText): string[] {
  return [...settings.values()].filter(({ layer }) => layer !== "site").map(({ key, value }) => `${key}=${value}`);
}

export function forwardOptions(
  localPort: number | undefined,
  token: string,
  { isTerminal }: Output,
): Omit<Parameters<typeof forwardUntil>[2], "conf"> {
  const show = (address: string, { task }: Destination) => {
    const page = `http://${address}/lab`;
    const link = isTerminal ? `${page}?token=${encodeURIComponent(token)}` : `${page} (its token is in JUPYTER_TOKEN)`;
    return `JupyterLab of ${task}:\n  ${link}\nCtrl-C ends the job`;
  };
  return {
    find: notebookDestination,
    listensWithinMs,
    show,
    localPort,
    json: false,
  };
}

/** Shows what a submission shows, and reports when its task runs. */
export class NotebookView extends FollowView {
  readonly #running: () => void;

  constructor(output: Output, now: () => number, running: () => void) {
    super(output, now, now());
    this.#running = running;
  }

  override show(status: JobStatus): void {
    super.show(status);
    if (notebookDestination(status) !== undefined) this.#running();
  }
}
