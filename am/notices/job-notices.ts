import { monotonicClock, type WallClock } from "../../src/hadoop/clock.ts";
import { programSecretsIn } from "../../src/job/launch/program-secrets.ts";
import type { JobStatus } from "../../src/job/status.ts";
import type { JobFile } from "../../src/job/stored/job-file.ts";
import type { Log } from "../../src/log.ts";
import { type Notice, Notices } from "./notices.ts";
import type { Outlet } from "./outlet.ts";
import { Webhook } from "./webhook.ts";

export interface JobNoticesOptions {
  readonly job: Pick<JobFile, "spec" | "user">;
  readonly url: string;
  /** The secrets that YARN gave this attempt. */
  readonly secrets: ReadonlyMap<string, Uint8Array>;
  readonly rateOf: (task: string) => number | undefined;
  readonly clock: Pick<WallClock, "nowMs">;
  readonly log: Log;
}

/** A key as libraries of Standard Webhooks write it. */
const encoded = /^whsec_(.*)$/;

/** Tells a job's webhook what happens to the job. */
export class JobNotices implements Outlet {
  readonly #options: JobNoticesOptions;
  readonly #notices: Notices;
  readonly #webhook: Webhook;

  constructor(options: JobNoticesOptions) {
    const { job, url, secrets, rateOf, clock, log } = options;
    this.#options = options;
    this.#notices = new Notices({ limits: job.spec.am, fromMs: clock.nowMs(), rateOf });
    this.#webhook = new Webhook({
      url: new URL(url),
      key: keyOf(secrets),
      clock: monotonicClock,
      warn: (message) => log.warn("notice-lost", message),
    });
  }

  look(status: JobStatus): void {
    this.#tell(status);
  }

  async end(status: JobStatus): Promise<void> {
    this.#tell(status);
    await this.#webhook.settled();
  }

  giveUp(): void {
    this.#webhook.giveUp();
  }

  #tell(status: JobStatus): void {
    for (const notice of this.#notices.look(status)) {
      const { applicationId } = status;
      const id = [applicationId, notice.event, notice.atMs].join(".");
      this.#webhook.send({
        id,
        event: notice.event,
        atMs: notice.atMs,
        body: messageOf(notice, status, this.#options.job.user),
      });
    }
  }
}

/** `text` alone says everything: chat services show only that. */
function messageOf({ text, ...notice }: Notice, { applicationId, attempt, name, queue }: JobStatus, user: string) {
  const remedy = notice.remedy === undefined ? "" : ` → ${notice.remedy}`;
  return {
    version: 1,
    ...notice,
    applicationId,
    attempt,
    name,
    queue,
    user,
    text: `${name} (${applicationId}): ${text}${remedy}`,
  };
}

function keyOf(secrets: ReadonlyMap<string, Uint8Array>): Buffer | undefined {
  const { TONY_NOTIFY_KEY: key } = programSecretsIn(secrets);
  if (key === undefined) return undefined;
  const [, base64] = encoded.exec(key) ?? [];
  return base64 === undefined ? Buffer.from(key) : Buffer.from(base64, "base64");
}
