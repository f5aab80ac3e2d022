import type { HostPort } from "../conf/values.ts";
import type { AuthenticationStrategy } from "./sasl/mechanism.ts";
import type { Token } from "./token.ts";

/** An RPC service that authenticates its callers. */
export interface RpcService {
  readonly transport: "rpc";
  /** Its Java interface, which determines its tokens and its principal. */
  readonly protocol: string;
  /** The server that we are connected to. */
  readonly endpoint: HostPort;
  /** All servers of the service; a token may be valid for all of them. */
  readonly endpoints: readonly HostPort[];
  /** The token that YARN issued for this very service (AMRMToken, NMToken); nothing else grants access to it. */
  readonly token?: Token | undefined;
}

/** A web server that authenticates its callers. */
export interface HttpService {
  readonly transport: "http";
  /** The requested address, before anything is added to it. */
  readonly url: URL;
  /** The service name of its tokens, if it differs from the server's address: `namenode:8020`, `ha-hdfs:nameservice`. */
  readonly tokenService?: string | undefined;
  /**
   * The address comes from a redirect and contains whatever the redirecting server added to authorize us (WebHDFS: `delegation`,
   * `user.name`). We authenticate to such a server only when it demands it.
   */
  readonly redirected: boolean;
  /** A page of YARN, which many sites leave open to everybody even with Kerberos (`hadoop.http.authentication.type`). */
  readonly mayBeOpen?: boolean | undefined;
}

/**
 * Who we are and how we prove it, for every service alike: the interface that a security mechanism implements, so that no client knows the
 * mechanism. Methods may take a while (to fetch a ticket or load a library), within the connection's timeout, and may be called
 * concurrently. The caller of the service receives their rejections; an error without a code becomes the cause of an AuthenticationError.
 */
export interface CredentialsProvider {
  /** Certificates, as PEM, that may sign those of the web servers to which we authenticate; absent: those that Node trusts. */
  readonly trustedCertificates?: string | undefined;
  /** The name under which the cluster knows us, without realm: it determines our home and our applications. */
  user(): Promise<string>;
  /**
   * Called for each new connection, so that expired credentials can be renewed first.
   * @returns our strategies; the first of the server's offers that one of them answers is used
   */
  forRpc(service: RpcService): Promise<readonly AuthenticationStrategy[]>;
  /** Called for each request. */
  forHttp(service: HttpService): Promise<HttpAuthentication>;
  /**
   * Called when a service has rejected our credentials.
   * @returns whether newer ones are available, so that one more try is worthwhile
   */
  renewed?(service: RpcService | HttpService, refusal: unknown): Promise<boolean>;
}

/** What a request carries to authenticate us. */
export interface HttpProof {
  /** Query parameters: `user.name`, `delegation`. */
  readonly parameters?: Readonly<Record<string, string>>;
  /** Keyed by lower-case name: `authorization`, `cookie`. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Authenticates one request, and its repetitions, to one web server. */
export interface HttpAuthentication {
  /** What the request carries at first: nothing, for a mechanism that waits for a challenge. */
  begin(): HttpProof | Promise<HttpProof>;
  /**
   * Answers HTTP 401.
   * @param challenges the values of `WWW-Authenticate`: `Negotiate`, `Basic realm="…"` (RFC 9110 §11.6.1)
   * @returns what the same request carries when it is sent again; undefined: there is nothing left to present
   * @throws AuthenticationError for a server that is not the expected one
   */
  respond?(challenges: readonly string[]): Promise<HttpProof | undefined>;
  /**
   * Receives the headers, keyed by lower-case name, and the status of an answer other than 401: the server's own proof (RFC 4559 §4) and
   * cookies to keep.
   * @throws AuthenticationError when the server did not authenticate itself; its answer is then dropped
   */
  complete?(
    headers: Readonly<Record<string, string | readonly string[] | undefined>>,
    status: number,
  ): void | Promise<void>;
}
