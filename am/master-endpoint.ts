import { type MasterServer, type MasterServerOptions, startMasterServer } from "../src/api/master-server.ts";
import { formatHostPort, type HostPort } from "../src/hadoop/conf/values.ts";
import { errorMessage } from "../src/hadoop/errors.ts";
import { withoutAddress } from "../src/history/secrets.ts";
import type { JobSpec } from "../src/job/spec.ts";
import type { JobFile } from "../src/job/stored/job-file.ts";
import { listeningAddress } from "../src/listening.ts";
import type { Log } from "../src/log.ts";
import { buildId } from "../src/programs.ts";
import type { Rejoin } from "./core/state/effects.ts";
import { rejoin } from "./executors/rejoin.ts";
import type { MasterSettings } from "./settings.ts";
import type { Staging } from "./storage/staging.ts";

export interface MasterEndpointOptions
  extends Pick<MasterServerOptions, "identity" | "executors" | "clients" | "sessions" | "feeds" | "ends" | "door"> {
  readonly job: JobFile;
  readonly settings: Pick<MasterSettings, "attempt" | "host">;
  readonly staging: Pick<Staging, "announce">;
  readonly log: Log;
}

/** Where clients and executors reach this attempt, and how they learn of it. */
export class MasterEndpoint {
  readonly #options: MasterEndpointOptions;
  #server: MasterServer | undefined;

  constructor(options: MasterEndpointOptions) {
    this.#options = options;
  }

  /** Listens from now on. */
  async open(): Promise<HostPort> {
    const { job, settings, log, staging: _staging, ...parts } = this.#options;
    const { files: _files, feeds: _feeds, node: _node, keytab: _keytab, spec, ...executorJob } = job;
    this.#server = await startMasterServer({
      ...parts,
      attempt: settings.attempt,
      build: buildId(),
      heartbeatIntervalMs: spec.timeouts.heartbeatIntervalMs,
      job: { ...executorJob, spec: withoutAddress(forExecutors(spec)) },
      host: listeningAddress(settings.host),
      ...(spec.ports.am === undefined ? {} : { ports: spec.ports.am }),
      portKey: "tony.am.port-range",
      random: Math.random,
    });
    log.info("am-listening", `The ApplicationMaster listens on ${this.address}.`, { address: this.address });
    return this.#hostPort;
  }

  /** `host:port` */
  get address(): string {
    return formatHostPort(this.#hostPort);
  }

  get #hostPort(): HostPort {
    return { host: this.#options.settings.host, port: this.#server?.port ?? 0 };
  }

  /** Late clients, and executors that lost their connection, look there; all others know the address already. */
  async announce(): Promise<void> {
    const { settings, staging, log } = this.#options;
    try {
      await staging.announce({ attempt: settings.attempt, ...this.#hostPort });
    } catch (error) {
      log.warn("announce-failed", `The address could not be left in the staging folder: ${errorMessage(error)}`);
    }
  }

  /** Calls the executors of an earlier attempt. */
  async callBack(executors: readonly Rejoin[]): Promise<void> {
    const { identity, settings } = this.#options;
    await rejoin(executors, { identity, build: buildId(), attempt: settings.attempt, masterAddress: this.address });
  }

  /** Containers may have gone: the connections they opened here are closed. */
  look(): void {
    this.#server?.look();
  }

  async close(limitMs: number): Promise<void> {
    await this.#server?.close(limitMs);
  }
}

/** The trials of an earlier search may be many, and an executor does not need them. */
function forExecutors({ search, ...spec }: JobSpec): JobSpec {
  if (search === undefined) return spec;
  const { before: _before, ...own } = search;
  return { ...spec, search: own };
}
