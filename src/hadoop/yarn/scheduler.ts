import { type Clock, systemClock } from "../clock.ts";
import { HadoopError } from "../errors.ts";
import { RpcClient } from "../rpc/client.ts";
import { isRemoteError, type RemoteError } from "../rpc/remote-error.ts";
import { patientRetry } from "../rpc/retry.ts";
import { ServiceClient } from "../rpc/service.ts";
import type { CredentialsProvider } from "../security/credentials-provider.ts";
import { tokenCredentials } from "../security/simple-credentials.ts";
import type { Token } from "../security/token.ts";
import { applicationMaster } from "../wire/methods.ts";
import type { hadoop } from "../wire/yarn.ts";
import type {
  Allocation,
  FinishRequest,
  HeartbeatOutcome,
  MasterRegistration,
  Registration,
  ResourceRequest,
  SchedulingRequest,
} from "./allocation.ts";
import type { ResourceManagerConnectionOptions } from "./connection-options.ts";
import {
  allocationFromWire,
  commandFromWire,
  registrationFromWire,
  resourceRequestToWire,
} from "./convert-allocation.ts";
import { finalStatuses } from "./convert-enums.ts";
import { containerIdToWire } from "./convert-ids.ts";
import { schedulingRequestToWire } from "./convert-placement.ts";
import { tokenFromWire } from "./convert-tokens.ts";
import { type Changes, OutstandingRequests } from "./outstanding-requests.ts";
import { placementRefusal } from "./placement-refusal.ts";
import type { ContainerId, ResourceType } from "./records.ts";
import { ResourceTypes } from "./resource-types.ts";

/** Which ResourceManager, with which token, and how patiently. */
export interface SchedulerOptions extends ResourceManagerConnectionOptions {
  /** The application attempt's own, of kind YARN_AM_RM_TOKEN. */
  readonly token: Token;
  /** How that token is shown; default tokenCredentials. */
  readonly credentials?: CredentialsProvider | undefined;
  /** The cluster's, as a client was told: for a registration whose answer is lost, or says none (Hadoop 2.10.0). */
  readonly resourceTypes?: readonly ResourceType[];
}

type AllocateRequest = hadoop.yarn.AllocateRequestProto.$Properties;

const protocol = "org.apache.hadoop.yarn.api.ApplicationMasterProtocolPB";
const finishPollMs = 100;
/** A heartbeat, or any other call, whose answer is lost may go again at once; the ResourceManager gives up who is silent for long. */
const callTimeoutMs = 5_000;
/** Codes that say that this attempt's time is over: another has begun, or the application has ended. */
const overCodes = ["ATTEMPT_NOT_FOUND", "APPLICATION_NOT_FOUND", "INVALID_TOKEN"] as const;
/** Codes that refuse a heartbeat for what it says. */
const refusalCodes = [
  "INVALID_RESOURCE_REQUEST",
  "INVALID_LABEL",
  "INVALID_BLACKLIST",
  "INVALID_RELEASE",
  "RESOURCE_TYPE_UNKNOWN",
] as const;

/** org.apache.hadoop.yarn.server.utils.AMRMClientUtils: APP_ALREADY_REGISTERED_MESSAGE and the message of a wrong response id. */
const alreadyRegistered = /already registered/i;
const expectedId = /expect responseId to be (-?\d+)/;
const noChanges: Changes = { asks: [], constrained: [], releases: [], blacklistAdditions: [], blacklistRemovals: [] };
/** What is known of a registration that was never heard of. */
const unheard: Registration = {
  answered: false,
  queue: "",
  resourceTypes: [],
  counted: "memory",
  containersFromPreviousAttempts: [],
  nodeTokens: [],
};

/**
 * ApplicationMasterProtocol: one application attempt's side of the scheduler. What is wanted is set by `ask`, `release` and
 * `blacklist` and told with the next heartbeat. Methods reject with the errors of RpcClient#call.
 */
export class SchedulerClient {
  readonly #rpc: RpcClient;
  readonly #service: ServiceClient<typeof applicationMaster>;
  readonly #clock: Clock;
  readonly #outstanding = new OutstandingRequests();
  #token: Token;
  #types: ResourceTypes;
  #registration: MasterRegistration | undefined;
  /** What the ResourceManager said to it, as far as it was heard. */
  #registered: Registration;
  #responseId = 0;
  /**
   * The heartbeat whose answer is out. If it was lost, the same one must go again: the ResourceManager answers a repeated response
   * id with the answer it gave, and would not look at anything new in it (ApplicationMasterService#allocate).
   */
  #unanswered: { readonly request: AllocateRequest; readonly changes: Changes } | undefined;
  #heartbeating = false;

  constructor({ token, credentials = tokenCredentials(), resourceTypes = [], ...options }: SchedulerOptions) {
    this.#token = token;
    this.#types = new ResourceTypes(resourceTypes);
    this.#registered = { ...unheard, resourceTypes };
    this.#clock = options.clock ?? systemClock;
    const access = { credentials, token: () => this.#token };
    this.#rpc = new RpcClient({ retry: patientRetry, callTimeoutMs, ...options, ...access, protocol });
    this.#service = new ServiceClient<typeof applicationMaster>(this.#rpc, applicationMaster);
  }

  /** The current token: the ResourceManager renews it now and then. Open connections do not mind; the next one uses it. */
  get token(): Token {
    return this.#token;
  }

  /** The rows that are still outstanding. */
  get outstanding(): readonly ResourceRequest[] {
    return this.#outstanding.rows;
  }

  /**
   * Registers the attempt, or registers it again after a heartbeat's outcome was `resync`; all that is outstanding is then told again.
   * A ResourceManager that has it registered already did so at a call whose answer was lost: the attempt goes on as registered.
   */
  async register(registration: MasterRegistration): Promise<Registration> {
    const registered = await this.#tellRegistration(registration);
    this.#registration = registration;
    this.#registered = registered;
    this.#types = new ResourceTypes(registered.resourceTypes);
    this.#responseId = 0;
    this.#unanswered = undefined;
    this.#outstanding.resync();
    return registered;
  }

  /** Sets rows of what is wanted. Throws UnknownResourceTypeError, before anything is set. */
  ask(rows: readonly ResourceRequest[]): void {
    for (const { capability } of rows) this.#types.check(capability);
    this.#outstanding.ask(rows);
  }

  /**
   * Sets what is wanted in constrained places, each under a priority of its own. Throws UnknownResourceTypeError, before anything is set.
   * Where the cluster's `yarn.resourcemanager.placement-constraints.handler` does not take it, the next heartbeat rejects, and it is
   * dropped: see `placementRefusal`.
   */
  askConstrained(requests: readonly SchedulingRequest[]): void {
    for (const { capability } of requests) this.#types.check(capability);
    this.#outstanding.askConstrained(requests);
  }

  /** Gives containers back; those that run are killed. */
  release(ids: readonly ContainerId[]): void {
    this.#outstanding.release(ids);
  }

  /** Keeps hosts from being given, or allows them again. */
  blacklist(change: { readonly add?: readonly string[]; readonly remove?: readonly string[] }): void {
    this.#outstanding.blacklist(change);
  }

  /**
   * One heartbeat; `progress` is 0 to 1; `trackingUrl` replaces the one that the application has, which a ResourceManager before 3.2
   * does not do. When it rejects, the next one first repeats what this one said; but asks that the
   * ResourceManager refuses for what they say (`INVALID_RESOURCE_REQUEST`, `INVALID_LABEL`, …) are dropped. Where it counts heartbeats
   * otherwise than we do, its number is taken.
   * One at a time: throws a HadoopError with code `HEARTBEAT_UNDER_WAY` otherwise.
   */
  async heartbeat(progress: number, trackingUrl?: string): Promise<HeartbeatOutcome> {
    if (this.#heartbeating) {
      throw new HadoopError("The last heartbeat is still under way", { code: "HEARTBEAT_UNDER_WAY" });
    }
    this.#heartbeating = true;
    try {
      return await this.#beatInStep(progress, trackingUrl);
    } catch (error) {
      if (isRemoteError(error, ...refusalCodes) || placementRefusal(error)) this.#drop();
      const outcome = outcomeOf(error);
      if (outcome === undefined) throw error;
      return outcome;
    } finally {
      this.#heartbeating = false;
    }
  }

  /**
   * Says how the application ended, until the ResourceManager has put it down. YARN may kill this process right after.
   * Should the ResourceManager have forgotten the attempt meanwhile, it is registered again first.
   * @returns false where it says only that the attempt is over: it took the end at a call whose answer was lost, or another attempt
   * has begun
   */
  async finish(request: FinishRequest): Promise<boolean> {
    const message = {
      diagnostics: request.diagnostics,
      tracking_url: request.trackingUrl,
      final_application_status: finalStatuses.toWire(request.status),
    };
    for (;;) {
      const state = await this.#tellEnd(message);
      if (state !== "being put down") return state === "put down";
      await this.#clock.sleep(finishPollMs);
    }
  }

  /** Closes the connection; calls in flight fail with code `RPC_CLOSED`. */
  close(): void {
    this.#rpc.close();
  }

  async #tellRegistration({ host, rpcPort, trackingUrl }: MasterRegistration): Promise<Registration> {
    const message = { host, rpc_port: rpcPort, tracking_url: trackingUrl };
    try {
      const heard = registrationFromWire(await this.#service.call("registerApplicationMaster", message));
      const { resourceTypes } = heard.resourceTypes.length === 0 ? this.#registered : heard;
      return { ...heard, resourceTypes };
    } catch (error) {
      if (!isRemoteError(error, "INVALID_MASTER_REQUEST") || !alreadyRegistered.test(error.javaMessage)) throw error;
      const { containersFromPreviousAttempts, nodeTokens } = unheard;
      return { ...this.#registered, answered: false, containersFromPreviousAttempts, nodeTokens };
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
   * Goes on from the heartbeat that the ResourceManager answered last: its answer, which was not heard here, comes again when its
   * request is repeated, and nothing new in that one is looked at. What is outstanding is told with the next.
   */
  #takeUpAt(lastAnsweredId: number): void {
    this.#outstanding.resync();
    this.#responseId = lastAnsweredId;
    const repeated = { request: { response_id: lastAnsweredId - 1 }, changes: noChanges };
    this.#unanswered = lastAnsweredId > 0 ? repeated : undefined;
  }

  async #beat(progress: number, trackingUrl: string | undefined): Promise<HeartbeatOutcome> {
    this.#unanswered ??= this.#nextRequest(progress, trackingUrl);
    const answer = await this.#service.call("allocate", this.#unanswered.request);
    this.#unanswered = undefined;
    this.#responseId = answer.response_id;
    if (answer.am_rm_token) this.#token = tokenFromWire(answer.am_rm_token);
    const command = commandFromWire(answer);
    if (command === "RESYNC") return { kind: "resync", reason: "the ResourceManager asked for it (AM_RESYNC)" };
    if (command === "SHUTDOWN") return { kind: "shutdown", reason: "the ResourceManager ordered it (AM_SHUTDOWN)" };
    const allocation = allocationFromWire(answer);
    this.#settle(allocation);
    return { kind: "allocation", allocation };
  }

  #drop(): void {
    if (this.#unanswered !== undefined) this.#outstanding.refused(this.#unanswered.changes);
    this.#unanswered = undefined;
  }

  #nextRequest(
    progress: number,
    trackingUrl: string | undefined,
  ): { readonly request: AllocateRequest; readonly changes: Changes } {
    const changes = this.#outstanding.take();
    const request = {
      ask: changes.asks.map((row) => resourceRequestToWire(row, this.#types)),
      scheduling_requests: changes.constrained.map((one) => schedulingRequestToWire(one, this.#types)),
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
    for (const container of allocation.allocated) this.#outstanding.granted(container);
    for (const one of allocation.rejected) this.#outstanding.rejected(one);
    for (const { containerId } of allocation.completed) this.#outstanding.ended(containerId);
  }

  async #tellEnd(
    message: hadoop.yarn.FinishApplicationMasterRequestProto.$Properties,
  ): Promise<"put down" | "being put down" | "over"> {
    try {
      const { isUnregistered } = await this.#service.call("finishApplicationMaster", message);
      return isUnregistered ? "put down" : "being put down";
    } catch (error) {
      if (saysOver(error)) return "over";
      if (this.#registration === undefined || !isRemoteError(error, "NOT_REGISTERED")) throw error;
      await this.register(this.#registration);
      return "being put down";
    }
  }
}

/** After it has ended an attempt the ResourceManager knows it no more (ApplicationMasterService#finishApplicationMaster). */
function saysOver(error: unknown): boolean {
  if (isRemoteError(error, ...overCodes)) return true;
  return isRemoteError(error, "INVALID_MASTER_REQUEST") && /doesn't exist in cache/.test(error.javaMessage);
}

/** What an error means for the attempt; undefined for one that means nothing in particular. */
function outcomeOf(error: unknown): HeartbeatOutcome | undefined {
  if (isRemoteError(error, "NOT_REGISTERED")) return { kind: "resync", reason: reasonOf(error) };
  if (isRemoteError(error, ...overCodes)) return { kind: "shutdown", reason: reasonOf(error) };
  return undefined;
}

function reasonOf(error: RemoteError): string {
  return error.javaMessage;
}
