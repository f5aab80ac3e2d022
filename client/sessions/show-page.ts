import { readFile } from "node:fs/promises";
import { ExitCode, UserError } from "../../src/errors.ts";
import { errorMessage } from "../../src/hadoop/errors.ts";
import { pagePath } from "../../src/programs.ts";
import type { ClientContext } from "../context.ts";
import type { MasterConnection } from "../master/master-connection.ts";
import type { PageJson } from "../printed-json.ts";
import { followRunning } from "./follow-running.ts";
import { watchLeaving } from "./forward.ts";
import { LocalPort } from "./local-port.ts";
import { PageDoor } from "./page-door.ts";

export interface ShowPageOptions {
  /** The port on this machine; default any. */
  readonly localPort: number | undefined;
  readonly json: boolean;
  readonly conf: readonly string[] | undefined;
}

/**
 * Shows a running job's page on this machine until the job ends or a signal arrives. When the ApplicationMaster is lost, the page continues
 * with the next one.
 * @param heard messages of the job's ApplicationMasters
 * @throws UserError, ApiError: the job does not run, has no page, or the caller may not see it
 */
export async function showPage(
  id: string,
  options: ShowPageOptions,
  context: ClientContext,
  heard: typeof followRunning = followRunning,
): Promise<ExitCode> {
  const leave = new AbortController();
  const unwatch = watchLeaving(() => leave.abort());
  const { output } = context;
  let present: MasterConnection | undefined;
  let opened: OpenedDoor | undefined;
  const ask = async (path: string) => {
    if (present === undefined || present.isClosed)
      throw new UserError("The ApplicationMaster is lost", { code: "LOST" });
    return await present.askPage(path);
  };
  try {
    for await (const { master, update } of heard(id, options.conf, context, leave.signal)) {
      present = master;
      if (update.type === "outcome") {
        const words = `${id} has ended (${update.outcome.result}): tony-ts status ${id}`;
        output.problem(words);
        // While the ApplicationMaster still answers.
        await opened?.door.close(words);
        break;
      }
      opened ??= await openDoor(id, options, ask, context);
      opened.door.changed();
    }
    if (!leave.signal.aborted) await opened?.door.close(`${id} has ended: tony-ts status ${id}`);
    return ExitCode.succeeded;
  } finally {
    opened?.local.close();
    unwatch();
  }
}

interface OpenedDoor {
  readonly door: PageDoor;
  readonly local: LocalPort;
}

async function openDoor(
  id: string,
  { localPort, json }: ShowPageOptions,
  ask: (path: string) => Promise<string>,
  { output }: ClientContext,
): Promise<OpenedDoor> {
  // Refused before anything is opened: callers who may not see the job, and jobs without a page.
  await ask("live");
  const door = new PageDoor({ html: await readFile(pagePath()), ask });
  const local = await LocalPort.listen(localPort === undefined ? { rather: 0 } : { exactly: localPort }, {
    serve: (socket) => door.serve(socket),
    failed: (reason) => output.problem(reason),
    refused: (error) => output.problem(errorMessage(error)),
  });
  const printed: PageJson = { applicationId: id, url: `http://${local.address}/#${door.token}` };
  if (json) output.jsonLine(printed);
  else output.print(`${printed.url} shows ${id} until the job ends; Ctrl-C closes the page, and the job goes on`);
  return { door, local };
}
