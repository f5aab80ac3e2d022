import type { Agent, IncomingMessage } from "node:http";
import type { CredentialsProvider, HttpProof, HttpService } from "../security/credentials-provider.ts";
import { AuthenticationError, authenticationFailure } from "../security/errors.ts";
import { type ExchangeBody, exchange, keepAliveAgent } from "./exchange.ts";

/** The caller's identity, and timeouts. */
export interface HttpClientOptions {
  /** The caller's identity; see simpleCredentials. */
  readonly credentials: CredentialsProvider;
  readonly connectTimeoutMs: number;
}

/** One request of HttpClient#send. */
export interface HttpRequest {
  readonly method: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Opened anew for each try: a server that demands authentication receives the request twice. */
  readonly body?: (() => ExchangeBody) | undefined;
  /** How long nothing may move in either direction while we wait for the server. */
  readonly idleTimeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** See HttpService. */
  readonly tokenService?: string | undefined;
  readonly redirected?: boolean | undefined;
  /** See HttpService. */
  readonly mayBeOpen?: boolean | undefined;
}

const unauthorized = 401;
/** For one request; Negotiate takes one or two (RFC 4559 §4.1). */
const mostChallenges = 4;

/** Sends requests to the web servers of a cluster, and authenticates to each in the way that it accepts. Connections are kept. */
export class HttpClient {
  readonly #options: HttpClientOptions;
  readonly #agents = new Map<string, Agent>();

  constructor(options: HttpClientOptions) {
    this.#options = options;
  }

  /**
   * Sends one request, and repeats it only while the server demands authentication.
   * @returns the answer as soon as its headers have arrived, whatever its status; 401 when there were no credentials left to present. Read
   * its body to the end or destroy it.
   * @throws HttpError when the exchange fails, and AuthenticationError
   */
  async send(url: URL, request: HttpRequest): Promise<IncomingMessage> {
    const answer = await this.#sendOnce(url, request);
    if (answer.statusCode !== unauthorized) return answer;
    const refusal = new AuthenticationError(`${url.host} answered HTTP ${unauthorized}`, {
      code: "HTTP_AUTHENTICATION",
    });
    if (!(await this.renewed(url, request, refusal))) return answer;
    answer.resume();
    return this.#sendOnce(url, request);
  }

  /** Whether there are newer credentials to present after a refusal, so that the request is worth another try. */
  async renewed(url: URL, request: HttpRequest, refusal: unknown): Promise<boolean> {
    return (await this.#options.credentials.renewed?.(serviceOf(url, request), refusal)) ?? false;
  }

  /** Closes idle connections. */
  close(): void {
    for (const agent of this.#agents.values()) agent.destroy();
  }

  async #sendOnce(url: URL, request: HttpRequest): Promise<IncomingMessage> {
    const authentication = await shown(() => this.#options.credentials.forHttp(serviceOf(url, request)));
    let proof = request.redirected === true ? {} : await shown(() => authentication.begin());
    for (let challenges = 0; ; challenges += 1) {
      const answer = await this.#exchange(url, request, proof);
      if (answer.statusCode !== unauthorized) {
        await shown(() => authentication.complete?.(answer.headers, answer.statusCode ?? 0), answer);
        return answer;
      }
      if (challenges === mostChallenges) return answer;
      const asked = answer.headersDistinct["www-authenticate"] ?? [];
      const response = await shown(() => authentication.respond?.(asked), answer);
      if (response === undefined) return answer;
      answer.resume();
      proof = response;
    }
  }

  #exchange(url: URL, { method, headers, body, idleTimeoutMs, signal }: HttpRequest, proof: HttpProof) {
    const asked = new URL(url);
    for (const [name, value] of Object.entries(proof.parameters ?? {})) asked.searchParams.set(name, value);
    return exchange(asked, {
      method,
      headers: { ...headers, ...proof.headers },
      agent: this.#agent(url),
      connectTimeoutMs: this.#options.connectTimeoutMs,
      idleTimeoutMs,
      signal,
      ...(body === undefined ? {} : { body: body() }),
    });
  }

  #agent({ protocol }: URL): Agent {
    let agent = this.#agents.get(protocol);
    if (agent === undefined) {
      agent = keepAliveAgent(protocol === "https:" ? "https:" : "http:", this.#options.credentials.trustedCertificates);
      this.#agents.set(protocol, agent);
    }
    return agent;
  }
}

function serviceOf(url: URL, { tokenService, redirected = false, mayBeOpen }: HttpRequest): HttpService {
  return { transport: "http", url, tokenService, redirected, mayBeOpen };
}

/** Runs one step of a provider. If it fails, the answer that it was about is discarded, since nobody will read it. */
async function shown<T>(part: () => T | Promise<T>, answer?: IncomingMessage): Promise<T> {
  try {
    return await part();
  } catch (error) {
    answer?.destroy();
    throw authenticationFailure(error, "HTTP_AUTHENTICATION");
  }
}
