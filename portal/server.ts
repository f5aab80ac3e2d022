import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { networkInterfaces } from "node:os";
import { TonyError } from "../src/errors.ts";
import { formatHostPort } from "../src/hadoop/conf/values.ts";
import { errorCode, errorMessage } from "../src/hadoop/errors.ts";
import { contentPolicy, protect, send, sendJson, sendPage } from "../src/page/answers.ts";
import { NO_SUCH_QUERY, parseLiveRequest } from "../src/page/live-request.ts";
import type { PortalProxies } from "../src/portal-settings.ts";
import { isTrusted, otherEnd, tcpSockets } from "../src/tcp-sockets.ts";
import { type Access, USER, type Viewer } from "./access.ts";
import { CounterStarts } from "./counter-starts.ts";
import type { JobIndex } from "./job-index.ts";
import { parseLogQuery } from "./job-logs.ts";
import type { JobPages } from "./job-pages.ts";
import { askedFor, matchingRows, parseJobQuery } from "./job-query.ts";
import type { Logins } from "./logins.ts";
import { metricsOf, metricsType, targetsOf } from "./metrics.ts";
import type { Upkeep } from "./upkeep.ts";
import { useOf } from "./use.ts";

/** Only users of this machine can connect. */
const HOST = "127.0.0.1";
export const MOST_PORTAL_CONNECTIONS = 64;
export const MOST_PORTAL_HEADER_BYTES = 8_192;
export const PORTAL_REQUEST_MS = 20_000;

export interface PortalServerOptions {
  readonly index: Pick<JobIndex, "rows" | "scan" | "gone">;
  /** Absent: nothing is moved or removed. */
  readonly upkeep?: Pick<Upkeep, "counts">;
  readonly jobs: Pick<JobPages, "ask" | "compare" | "live" | "logs" | "metrics" | "settings" | "whole">;
  readonly listPage: Buffer;
  readonly jobPage: Buffer;
  readonly comparePage: Buffer;
  readonly access: Pick<Access, "maySee" | "viewer">;
  /** Proxies whose word on who asks is believed; absent: none, and only the portal's own user is served. */
  readonly proxies?: PortalProxies;
  /** Where others log in at the portal itself; absent: nowhere. */
  readonly door?: PortalDoor;
  readonly nowMs: () => number;
  /** Whether a connection belongs to the portal's own user; only tests set it. */
  readonly isOwn?: (socket: Socket) => Promise<boolean>;
}

export interface PortalDoor {
  readonly listen: string;
  /** PEM, as is `clientAuthority`: the authorities for clients' certificates; absent: none are requested. */
  readonly certificate: Buffer;
  readonly key: Buffer;
  readonly clientAuthority?: Buffer;
  readonly logins: Pick<Logins, "userOf">;
}

/** Who is connected: the portal's own user, a trusted proxy, or somebody who has to log in. */
type Caller = "own" | "proxy" | "guest";

/** Kerberos tickets are sent in headers, and contain lists of groups. */
export const MOST_LOGIN_HEADER_BYTES = 65_536;
const HANDSHAKE_MS = 10_000;

const statusOf: Readonly<Record<string, number>> = {
  NOT_LOGGED_IN: 401,
  NO_SUCH_JOB: 404,
  NO_LOGS: 404,
  NO_SUCH_TASK: 404,
  NOT_ALLOWED: 403,
  ACCESS_DENIED: 403,
  LOG_TOO_LONG: 413,
  BUSY: 503,
};

interface Page {
  readonly html: Buffer;
  readonly policy: string;
}

/**
 * The portal's server: for the portal's own user on this machine, who may read everything, and for users that named proxies have
 * authenticated, as far as jobs allow it. No request changes anything.
 */
export class PortalServer {
  readonly #options: PortalServerOptions;
  readonly #server: Server;
  readonly #list: Page;
  readonly #job: Page;
  readonly #compare: Page;
  /** Counter starts by reader, because each reader sees other jobs. */
  readonly #starts = new Map<string, CounterStarts>();
  readonly #callers = new WeakMap<Socket, Promise<Caller | undefined>>();

  constructor(options: PortalServerOptions) {
    this.#options = options;
    this.#list = { html: options.listPage, policy: contentPolicy(options.listPage) };
    this.#job = { html: options.jobPage, policy: contentPolicy(options.jobPage) };
    this.#compare = { html: options.comparePage, policy: contentPolicy(options.comparePage) };
    const { door } = options;
    const limits = { requestTimeout: PORTAL_REQUEST_MS, headersTimeout: PORTAL_REQUEST_MS };
    const serve = (request: IncomingMessage, response: ServerResponse) => void this.#serve(request, response);
    this.#server =
      door === undefined
        ? createServer({ ...limits, maxHeaderSize: MOST_PORTAL_HEADER_BYTES }, serve)
        : createSecureServer({ ...limits, ...secureOptions(door) }, serve);
    this.#server.maxConnections = MOST_PORTAL_CONNECTIONS;
    this.#server.on(door === undefined ? "connection" : "secureConnection", (socket) => void this.#admit(socket));
  }

  /** @throws TonyError (`PORT_TAKEN`) where it cannot listen there */
  async listen(port: number): Promise<string> {
    const { door, proxies } = this.#options;
    const host = door?.listen ?? proxies?.listen ?? HOST;
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", (cause) => reject(portTaken(host, port, cause))).listen(port, host, resolve);
    });
    return `${door === undefined ? "http" : "https"}://${formatHostPort({ host, port: this.#port })}/`;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  get #port(): number {
    const address: AddressInfo | string | null = this.#server.address();
    return typeof address === "object" ? (address?.port ?? 0) : 0;
  }

  /** Other users' connections get no answer, and do not count against the limit. */
  async #admit(socket: Socket): Promise<void> {
    const caller = this.#callerOf(socket);
    this.#callers.set(socket, caller);
    if ((await caller) === undefined) socket.resetAndDestroy();
  }

  /** A proxy on this machine has to run as the portal's own user or as root: any other user could claim to be anybody. */
  async #callerOf(socket: Socket): Promise<Caller | undefined> {
    const address = (socket.remoteAddress ?? "").replace(/^::ffff:/, "");
    const isNamed = this.#options.proxies?.addresses.includes(address) === true;
    if (isNamed && !isOfThisMachine(address)) return "proxy";
    const isOwn = await (this.#options.isOwn ?? isOfOwnUser)(socket);
    if (!isOwn) return this.#options.door === undefined ? undefined : "guest";
    return isNamed ? "proxy" : "own";
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const caller = await this.#callers.get(request.socket);
    if (caller === undefined) return;
    protect(response);
    try {
      const refusal = this.#refusal(request, caller);
      if (refusal !== undefined) sendJson(response, refusal.status, { error: refusal.error });
      else await this.#answer(request, await this.#viewerOf(request, caller, response), response);
    } catch (error) {
      sendJson(response, statusOf[errorCode(error) ?? ""] ?? 502, { error: errorMessage(error) });
    }
  }

  /** @throws TonyError (`NOT_ALLOWED`) where a proxy does not name a user */
  async #viewerOf(request: IncomingMessage, caller: Caller, response: ServerResponse): Promise<Viewer> {
    const { proxies, access, door } = this.#options;
    const { headers } = request;
    // Under any name but this machine's own, the portal's user too has to log in.
    const isGuest = caller === "guest" || (door !== undefined && !this.#ownHosts.includes(headers.host ?? ""));
    if (door !== undefined && isGuest) return await access.viewer(await door.logins.userOf(request, response));
    if (caller === "own" || proxies === undefined) return { user: undefined, groups: [] };
    const name = proxies.header.toLowerCase();
    const user = headers[name];
    if (typeof user === "string" && USER.test(user)) return await access.viewer(user);
    throw new TonyError(`the proxy names no user in ${name}: ask whoever runs it`, {
      code: "NOT_ALLOWED",
    });
  }

  get #ownHosts(): readonly string[] {
    return [HOST, "localhost"].map((host) => `${host}:${this.#port}`);
  }

  #refusal({ method, headers }: IncomingMessage, caller: Caller) {
    // A page on another site whose name resolves to this address must not read the answers (DNS rebinding).
    const hosts = this.#ownHosts;
    if (caller === "own" && this.#options.door === undefined && !hosts.includes(headers.host ?? ""))
      return { status: 403, error: `the portal is at ${hosts.join(" and ")}` };
    // Nor may it make the portal read jobs; a link to the portal is allowed.
    const { "sec-fetch-site": site = "none", "sec-fetch-mode": mode } = headers;
    if (site !== "none" && site !== "same-origin" && mode !== "navigate")
      return { status: 403, error: "the portal answers its own pages" };
    if (method !== "GET" && method !== "HEAD") return { status: 405, error: "the portal is only read: GET" };
    return undefined;
  }

  #startsOf({ user = "" }: Viewer): CounterStarts {
    const starts = this.#starts.get(user) ?? new CounterStarts();
    this.#starts.set(user, starts);
    return starts;
  }

  /** The jobs that a viewer may know of. The owner of an unreadable history is unknown: only the portal's own user is told of it. */
  #shownTo(viewer: Viewer): PortalServerOptions["index"] {
    const { index, access } = this.#options;
    if (viewer.user === undefined) return index;
    const rows = index.rows.filter((row) => access.maySee(viewer, row));
    const gone = index.gone.filter((tally) => access.maySee(viewer, tally));
    const { emptyPlaces: _places, ...scan } = index.scan;
    return { rows, gone, scan: { ...scan, unreadable: [] } };
  }

  async #answer({ url = "/", headers }: IncomingMessage, viewer: Viewer, response: ServerResponse): Promise<void> {
    const { jobs, nowMs } = this.#options;
    const index = this.#shownTo(viewer);
    const { pathname, search, searchParams } = new URL(url, `http://${HOST}`);
    const [, id = "", rest = ""] = /^\/jobs\/(application_\d+_\d+)(?:\/(.*))?$/.exec(pathname) ?? [];
    const [, running = ""] = /^\/metrics\/(application_\d+_\d+)$/.exec(pathname) ?? [];
    if (pathname === "/") sendPage(response, this.#list.html, this.#list.policy);
    else if (pathname === "/api/v1/jobs" || pathname === "/api/v1/use") {
      const query = parseJobQuery(searchParams);
      if (typeof query === "string") sendJson(response, 400, { error: query });
      else if (pathname === "/api/v1/use") sendJson(response, 200, useOf(matchingRows(index.rows, query), nowMs()));
      else sendJson(response, 200, { nowMs: nowMs(), scan: index.scan, ...askedFor(index.rows, query) });
    } else if (pathname === "/compare") sendPage(response, this.#compare.html, this.#compare.policy);
    else if (pathname === "/api/v1/compare") {
      const [a = "", b = ""] = ["a", "b"].map((name) => searchParams.get(name)?.trim());
      const wrong = [a, b].find((one) => !/^application_\d{1,20}_\d{1,20}$/.test(one));
      if (wrong !== undefined)
        sendJson(response, 400, { error: "a and b are ids of jobs, such as application_1_0001" });
      else sendJson(response, 200, await jobs.compare([a, b], viewer));
    } else if (pathname === "/metrics") {
      // Counters that grow while the history is being read would look like jobs that end now.
      if (index.scan.isComplete) {
        const told = metricsOf(index, this.#options.upkeep?.counts, this.#startsOf(viewer).scrape(nowMs()));
        send(response, 200, metricsType, Buffer.from(told));
      } else sendJson(response, 503, { error: "the history is being read" });
    } else if (running !== "") {
      const told = await jobs.metrics(running, viewer, searchParams.has("tasks"));
      send(response, 200, metricsType, Buffer.from(told));
    } else if (pathname === "/api/v1/targets") {
      const scheme = this.#options.door === undefined ? "http" : "https";
      sendJson(response, 200, targetsOf(headers.host ?? "", scheme, index.rows));
    } else if (id !== "" && rest === "api/v1/live") {
      const query = parseLiveRequest(searchParams);
      if (query === undefined) sendJson(response, 404, { error: NO_SUCH_QUERY });
      else sendJson(response, 200, await jobs.live(id, query, viewer, search.slice(1)));
    } else if (id !== "" && rest === "api/v1/job") sendJson(response, 200, await jobs.whole(id, viewer));
    else if (id !== "" && rest === "api/v1/settings") sendJson(response, 200, await jobs.settings(id, viewer));
    else if (id !== "" && (rest === "api/v1/run" || (rest === "api/v1/logs" && searchParams.has("of"))))
      sendJson(response, 200, await jobs.ask(id, rest.slice("api/v1/".length) + search, viewer));
    else if (id !== "" && rest === "api/v1/logs") {
      const query = parseLogQuery(searchParams);
      if (typeof query === "string") sendJson(response, 400, { error: query });
      else {
        const gone = new AbortController();
        response.once("close", () => gone.abort());
        sendJson(response, 200, await jobs.logs(id, query, viewer, gone.signal));
      }
    }
    // YARN's proxy redirects to a job's page with the rest of the path that the viewer had open below the job's address.
    else if (id !== "" && !rest.startsWith("api/")) sendPage(response, this.#job.html, this.#job.policy);
    else
      sendJson(response, 404, {
        error:
          "there is /, /jobs/ID, /compare, /api/v1/jobs, /api/v1/use, /api/v1/compare, /api/v1/targets and /metrics",
      });
  }
}

function secureOptions({ certificate, key, clientAuthority }: PortalDoor) {
  const clients = clientAuthority === undefined ? {} : { ca: clientAuthority, requestCert: true };
  // Clients without a certificate may log in by other means.
  const wants = { ...clients, rejectUnauthorized: false, handshakeTimeout: HANDSHAKE_MS };
  return { cert: certificate, key, ...wants, maxHeaderSize: MOST_LOGIN_HEADER_BYTES };
}

function isOfThisMachine(address: string): boolean {
  const own = Object.values(networkInterfaces()).flatMap((ends) => ends ?? []);
  return address.startsWith("127.") || own.some((end) => end.address === address);
}

async function isOfOwnUser(socket: Socket): Promise<boolean> {
  const caller = otherEnd(socket, await tcpSockets());
  return caller !== undefined && isTrusted(caller);
}

function portTaken(host: string, port: number, cause: unknown): TonyError {
  const why = errorCode(cause) === "EADDRINUSE" ? "another program has it" : errorMessage(cause);
  return new TonyError(`The portal cannot listen on ${host}:${port}: ${why}; name another by --port`, {
    code: "PORT_TAKEN",
    cause,
  });
}
