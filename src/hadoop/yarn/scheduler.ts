import { type MonotonicClock, monotonicClock } from "../clock.ts";
import { RpcClient } from "../rpc/client.ts";
import { isRemoteError } from "../rpc/remote-error.ts";
import { patientRetry } from "../rpc/retry.ts";
import { ServiceClient } from "../rpc/service.ts";
import type { CredentialsProvider } from "../security/credentials-provider.ts";
import { tokenCredentials } from "../security/simple-credentials.ts";
import type { Token } from "../security/token.ts";
import { applicationMaster } from "../wire/methods.ts";
import type { hadoop } from "../wire/yarn.ts";
import type {
  FinishRequest,
  HeartbeatOutcome,
  MasterRegistration,
  Registration,
  ResourceRequest,
  SchedulingRequest,
} from "./allocation.ts";
import type { ResourceManagerConnectionOptions } from "./connection-options.ts";
import { registrationFromWire } from "./convert-allocation.ts";
import { finalStatuses } from "./convert-enums.ts";
import { Heartbeats, overCodes } from "./heartbeats.ts";
import type { ContainerId, ResourceType } from "./records.ts";
import { ResourceTypes } from "./resource-types.ts";

/** Which ResourceManager, with which token, and with which timeouts and retries. */
export interface SchedulerOptions extends ResourceManagerConnectionOptions {
  /** The application attempt's own, of kind YARN_AM_RM_TOKEN. */
  readonly token: Token;
  /** How to authenticate with that token; default tokenCredentials. */
  readonly credentials?: CredentialsProvider | undefined;
  /** The cluster's resource types, as a client received them: used if a registration's answer is lost, or lists none (Hadoop 2.10.0). */
  readonly resourceTypes?: readonly ResourceType[];
}

const protocol = "org.apache.hadoop.yarn.api.ApplicationMasterProtocolPB";
const finishPollMs = 100;
/**
 * A call whose answer is lost, a heartbeat or any other, may be repeated at once; the ResourceManager gives up on an attempt that is silent
 * for long.
 */
const callTimeoutMs = 5_000;
/** org.apache.hadoop.yarn.server.utils.AMRMClientUtils#APP_ALREADY_REGISTERED_MESSAGE */
const alreadyRegistered = /already registered/i;
/** What is known of a registration whose answer was never received. */
const unheard: Registration = {
  answered: false,
  queue: "",
  resourceTypes: [],
  counted: "memory",
  containersFromPreviousAttempts: [],
  nodeTokens: [],
};

/**
 * ApplicationMasterProtocol: one application attempt's side of the scheduler. `ask`, `release` and `blacklist` set what is wanted, and the
 * next heartbeat sends it. Methods reject with the errors of RpcClient#call.
 */
export class SchedulerClient {
  readonly #rpc: RpcClient;
  readonly #service: ServiceClient<typeof applicationMaster>;
  readonly #clock: MonotonicClock;
  readonly #heartbeats: Heartbeats;
  #token: Token;
  #types: ResourceTypes;
  #registration: MasterRegistration | undefined;
  /** The ResourceManager's answer to the registration, as far as it was received. */
  #registered: Registration;

  constructor({ token, credentials = tokenCredentials(), resourceTypes = [], ...options }: SchedulerOptions) {
    this.#token = token;
    this.#types = new ResourceTypes(resourceTypes);
    this.#registered = { ...unheard, resourceTypes };
    this.#clock = options.clock ?? monotonicClock;
    const access = { credentials, token: () => this.#token };
    this.#rpc = new RpcClient({ retry: patientRetry, callTimeoutMs, ...options, ...access, protocol });
    this.#service = new ServiceClient<typeof applicationMaster>(this.#rpc, applicationMaster);
    this.#heartbeats = new Heartbeats({
      service: this.#service,
      types: () => this.#types,
      tokenRenewed: (renewed) => {
        this.#token = renewed;
      },
    });
  }

  /** The current token: the ResourceManager renews it now and then. Open connections are unaffected; the next one uses it. */
  get token(): Token {
    return this.#token;
  }

  /** The rows that are still outstanding. */
  get outstanding(): readonly ResourceRequest[] {
    return this.#heartbeats.outstanding.rows;
  }

  /**
   * Registers the attempt, or registers it again after a heartbeat's outcome was `resync`; everything outstanding is then sent again. If
   * the ResourceManager says that it is already registered, an earlier call's answer was lost, and the attempt continues as registered.
   */
  async register(registration: MasterRegistration): Promise<Registration> {
    const registered = await this.#tellRegistration(registration);
    this.#registration = registration;
    this.#registered = registered;
    this.#types = new ResourceTypes(registered.resourceTypes);
    this.#heartbeats.begin();
    return registered;
  }

  /** Sets the rows that are wanted. Throws UnknownResourceTypeError, before anything is set. */
  ask(rows: readonly ResourceRequest[]): void {
    for (const { capability } of rows) this.#types.check(capability);
    this.#heartbeats.outstanding.ask(rows);
  }

  /**
   * Sets constrained requests, each under a priority of its own. Throws UnknownResourceTypeError, before anything is set. If the cluster's
   * `yarn.resourcemanager.placement-constraints.handler` does not accept them, the next heartbeat rejects, and they are dropped: see
   * `placementRefusal`.
   */
  askConstrained(requests: readonly SchedulingRequest[]): void {
    for (const { capability } of requests) this.#types.check(capability);
    this.#heartbeats.outstanding.askConstrained(requests);
  }

  /** Gives containers back; running ones are killed. */
  release(ids: readonly ContainerId[]): void {
    this.#heartbeats.outstanding.release(ids);
  }

  /** Excludes hosts from allocation, or allows them again. */
  blacklist(change: { readonly add?: readonly string[]; readonly remove?: readonly string[] }): void {
    this.#heartbeats.outstanding.blacklist(change);
  }

  /**
   * Sends one heartbeat. `progress` is 0 to 1; `trackingUrl` replaces the application's current one, which a ResourceManager before 3.2
   * ignores. When it rejects, the next one first repeats what this one sent; but requests that the ResourceManager refuses for their
   * content (`INVALID_RESOURCE_REQUEST`, `INVALID_LABEL`, …) are dropped. If the ResourceManager's count of heartbeats differs from ours,
   * its number is adopted.
   * One at a time: otherwise rejects with a HadoopError with code `HEARTBEAT_UNDER_WAY`.
   */
  heartbeat(progress: number, trackingUrl?: string): Promise<HeartbeatOutcome> {
    return this.#heartbeats.beat(progress, trackingUrl);
  }

  /**
   * Reports how the application ended, until the ResourceManager has recorded it. YARN may kill this process right after. If the
   * ResourceManager has meanwhile forgotten the attempt, it is registered again first.
   * @returns false if it says only that the attempt is over: it recorded the end at a call whose answer was lost, or another attempt has
   * begun
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

/** Once the ResourceManager has ended an attempt, it no longer knows it (ApplicationMasterService#finishApplicationMaster). */
function saysOver(error: unknown): boolean {
  if (isRemoteError(error, ...overCodes)) return true;
  return isRemoteError(error, "INVALID_MASTER_REQUEST") && /doesn't exist in cache/.test(error.javaMessage);
}
