import { HadoopError } from "../errors.ts";
import { isRemoteError, type RemoteError } from "../rpc/remote-error.ts";
import type { ServiceClient } from "../rpc/service.ts";
import type { Token } from "../security/token.ts";
import type { applicationMaster } from "../wire/methods.ts";
import type { hadoop } from "../wire/yarn.ts";
import type { Allocation, HeartbeatOutcome } from "./allocation.ts";
import { allocationFromWire, commandFromWire, resourceRequestToWire } from "./convert-allocation.ts";
import { containerIdToWire } from "./convert-ids.ts";
import { schedulingRequestToWire } from "./convert-placement.ts";
import { tokenFromWire } from "./convert-tokens.ts";
import { type Changes, OutstandingRequests } from "./outstanding-requests.ts";
import { placementRefusal } from "./refusals.ts";
import type { ResourceTypes } from "./resource-types.ts";

export interface HeartbeatsOptions {
  readonly service: Pick<ServiceClient<typeof applicationMaster>, "call">;
  /** The cluster's resource types, as the registration reported them. */
  readonly types: () => ResourceTypes;
  /** Called when the ResourceManager has renewed the attempt's token. */
  readonly tokenRenewed: (token: Token) => void;
}

/** One heartbeat, and the changes that it reports. */
interface Beat {
  readonly request: hadoop.yarn.AllocateRequestProto.$Properties;
  readonly changes: Changes;
}

/** Codes that mean that this attempt is over: another has begun, or the application has ended. */
export const overCodes = ["ATTEMPT_NOT_FOUND", "APPLICATION_NOT_FOUND", "INVALID_TOKEN"] as const;
/** Codes that reject a heartbeat because of its content. */
const refusalCodes = [
  "INVALID_RESOURCE_REQUEST",
  "INVALID_LABEL",
  "INVALID_BLACKLIST",
  "INVALID_RELEASE",
  "RESOURCE_TYPE_UNKNOWN",
] as const;
/** The message of a wrong response id (org.apache.hadoop.yarn.server.utils.AMRMClientUtils). */
const expectedId = /expect responseId to be (-?\d+)/;
const noChanges: Changes = { asks: [], constrained: [], releases: [], blacklistAdditions: [], blacklistRemovals: [] };

/** An attempt's heartbeats, in step with the ResourceManager, which counts them. Each reports the changes in `outstanding`. */
export class Heartbeats {
  /** Everything that the attempt still wants. */
  readonly outstanding = new OutstandingRequests();
  readonly #options: HeartbeatsOptions;
  #responseId = 0;
  /**
   * The heartbeat whose answer is outstanding. If that was lost, the same heartbeat must be sent again: to a repeated response id the
   * ResourceManager returns the answer it gave before, and ignores anything new in the request (ApplicationMasterService#allocate).
   */
  #unanswered: Beat | undefined;
  #underWay = false;

  constructor(options: HeartbeatsOptions) {
    this.#options = options;
  }

  /** The attempt was registered, perhaps again: heartbeats count from 0, and everything outstanding is sent again. */
  begin(): void {
    this.#responseId = 0;
    this.#unanswered = undefined;
    this.outstanding.resync();
  }

  /** See SchedulerClient#heartbeat. */
  async beat(progress: number, trackingUrl?: string): Promise<HeartbeatOutcome> {
    if (this.#underWay) {
      throw new HadoopError("The last heartbeat is still under way", { code: "HEARTBEAT_UNDER_WAY" });
    }
    this.#underWay = true;
    try {
      return await this.#beatInStep(progress, trackingUrl);
    } catch (error) {
      if (isRemoteError(error, ...refusalCodes) || placementRefusal(error)) this.#drop();
      const outcome = outcomeOf(error);
      if (outcome === undefined) throw error;
      return outcome;
    } finally {
      this.#underWay = false;
    }
  }

  async #beatInStep(progress: number, trackingUrl: string | undefined): Promise<HeartbeatOutcome> {
    try {
      return await this.#beat(progress, trackingUrl);
    } catch (error) {
      const expected = isRemoteError(error, "INVALID_MASTER_REQUEST")
        ? expectedId.exec(error.javaMessage)?.[1]
        : undefined;
      if (expected === undefined) throw error;
      this.#takeUpAt(Number(expected));
      return await this.#beat(progress, trackingUrl);
    }
  }

  /**
   * Resumes from the heartbeat that the ResourceManager answered last. That answer, which never arrived here, is returned again when the
   * request is repeated, and anything new in the repeated request is ignored. Outstanding changes go with the next one.
   */
  #takeUpAt(lastAnsweredId: number): void {
    this.outstanding.resync();
    this.#responseId = lastAnsweredId;
    const repeated = { request: { response_id: lastAnsweredId - 1 }, changes: noChanges };
    this.#unanswered = lastAnsweredId > 0 ? repeated : undefined;
  }

  async #beat(progress: number, trackingUrl: string | undefined): Promise<HeartbeatOutcome> {
    const { service, tokenRenewed } = this.#options;
    this.#unanswered ??= this.#next(progress, trackingUrl);
    const answer = await service.call("allocate", this.#unanswered.request);
    this.#unanswered = undefined;
    this.#responseId = answer.response_id;
    if (answer.am_rm_token) tokenRenewed(tokenFromWire(answer.am_rm_token));
    const command = commandFromWire(answer);
    if (command === "RESYNC") return { kind: "resync", reason: "the ResourceManager asked for it (AM_RESYNC)" };
    if (command === "SHUTDOWN") return { kind: "shutdown", reason: "the ResourceManager ordered it (AM_SHUTDOWN)" };
    const allocation = allocationFromWire(answer);
    this.#settle(allocation);
    return { kind: "allocation", allocation };
  }

  #drop(): void {
    if (this.#unanswered !== undefined) this.outstanding.refused(this.#unanswered.changes);
    this.#unanswered = undefined;
  }

  #next(progress: number, trackingUrl: string | undefined): Beat {
    const types = this.#options.types();
    const changes = this.outstanding.take();
    const request = {
      ask: changes.asks.map((row) => resourceRequestToWire(row, types)),
      scheduling_requests: changes.constrained.map((one) => schedulingRequestToWire(one, types)),
      release: changes.releases.map(containerIdToWire),
      blacklist_request: {
        blacklist_additions: [...changes.blacklistAdditions],
        blacklist_removals: [...changes.blacklistRemovals],
      },
      response_id: this.#responseId,
      progress,
      ...(trackingUrl === undefined ? {} : { tracking_url: trackingUrl }),
    };
    return { request, changes };
  }

  #settle(allocation: Allocation): void {
    for (const container of allocation.allocated) this.outstanding.granted(container);
    for (const one of allocation.rejected) this.outstanding.rejected(one);
    for (const { containerId } of allocation.completed) this.outstanding.ended(containerId);
  }
}

/** What an error means for the attempt; undefined if it means nothing in particular. */
function outcomeOf(error: unknown): HeartbeatOutcome | undefined {
  if (isRemoteError(error, "NOT_REGISTERED")) return { kind: "resync", reason: reasonOf(error) };
  if (isRemoteError(error, ...overCodes)) return { kind: "shutdown", reason: reasonOf(error) };
  return undefined;
}

function reasonOf(error: RemoteError): string {
  return error.javaMessage;
}
