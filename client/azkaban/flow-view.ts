import type { JobOutcome, JobStatus } from "../../src/job/status.ts";
import type { FollowedEnd } from "../following/follow-listener.ts";
import { FollowView } from "../following/follow-view.ts";
import type { FlowJobEnd } from "./output-properties.ts";

/** Shows a job in the log of its flow, and keeps what the flow needs to know at its end. */
export class FlowView extends FollowView {
  #trackingUrl = "";
  #status: JobStatus | undefined;
  #ended: { readonly id: string; readonly outcome: JobOutcome } | undefined;

  /** Undefined while it has not ended. */
  get end(): FlowJobEnd | undefined {
    return this.#ended && { ...this.#ended, trackingUrl: this.#trackingUrl, status: this.#status };
  }

  override trackingUrl(url: string): void {
    super.trackingUrl(url);
    if (url === "" || url === this.#trackingUrl) return;
    this.#trackingUrl = url;
    this.line(`Tracking URL: ${url}`);
  }

  override show(status: JobStatus): void {
    this.#status = status;
    super.show(status);
  }

  /** No person is at a keyboard. */
  protected override get endingWords(): string {
    return "Ending the job";
  }

  override ended(end: FollowedEnd): void {
    const { outcome, report } = end;
    this.#ended = { id: report.id, outcome };
    super.ended(end);
  }
}
