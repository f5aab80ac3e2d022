import type { HostPort } from "../conf/values.ts";
import type { AuthenticationStrategy } from "./sasl/mechanism.ts";
import type { Token } from "./token.ts";

/** An RPC service that wants to know who calls. */
export interface RpcService {
  readonly transport: "rpc";
  /** Its Java interface, which says what tokens and what principal it has. */
  readonly protocol: string;
  /** The server that is connected. */
  readonly endpoint: HostPort;
  /** All servers of the service; a token may be for them together. */
  readonly endpoints: readonly HostPort[];
  /** The token that YARN gave for just this service (AMRMToken, NMToken); nothing else opens it. */
  readonly token?: Token | undefined;
}

/** A web server that wants to know who asks. */
export interface HttpService {
  readonly transport: "http";
  /** The address asked, before anything is added to it. */
  readonly url: URL;
  /** What its tokens are filed under, where that is not its own address: `namenode:8020`, `ha-hdfs:nameservice`. */
  readonly tokenService?: string | undefined;
  /**
   * The address is from a redirect, and holds what the redirecting server put into it to have us let in (WebHDFS: `delegation`,
   * `user.name`). Such a server is shown a proof only when it asks for one.
   */
  readonly redirected: boolean;
  /** A page of YARN, which many sites let everybody read, also where they have Kerberos (`hadoop.http.authentication.type`). */
  readonly mayBeOpen?: boolean | undefined;
}

/**
 * Who we are and how that is shown, to every service alike: what a security mechanism implements, so that no client knows any.
 * Methods may take their time (a ticket is fetched, a library loaded), within the connection's time limit, and several calls may come
 * at once. What they reject with is what the caller of the service gets: an error without a code as the cause of an AuthenticationError.
 */
export interface CredentialsProvider {
  /** As PEM: who may sign the certificates of the web servers that are shown who we are; absent: whom Node trusts. */
  readonly trustedCertificates?: string | undefined;
  /** The name that the cluster knows us by, without realm: whose home it is, whose applications they are. */
  user(): Promise<string>;
  /**
   * Asked at each new connection, so that what has expired can be renewed before.
   * @returns what we can do; of the server's offers the first is taken that one of these answers
   */
  forRpc(service: RpcService): Promise<readonly AuthenticationStrategy[]>;
  /** Asked for each request. */
  forHttp(service: HttpService): Promise<HttpAuthentication>;
  /**
   * Told that a service refused what it was shown.
   * @returns whether something newer is there now, so that the same is worth one more try
   */
  renewed?(service: RpcService | HttpService, refusal: unknown): Promise<boolean>;
}

/** What a request carries to show who asks. */
export interface HttpProof {
  /** Of the query: `user.name`, `delegation`. */
  readonly parameters?: Readonly<Record<string, string>>;
  /** By lower-case name: `authorization`, `cookie`. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** A way to show one web server who we are, for one request and its repetitions. */
export interface HttpAuthentication {
  /** What the request carries at first: nothing, for a mechanism that waits to be asked. */
  begin(): HttpProof | Promise<HttpProof>;
  /**
   * Answers HTTP 401.
   * @param challenges the values of `WWW-Authenticate`: `Negotiate`, `Basic realm="…"` (RFC 9110 §11.6.1)
   * @returns what the same request carries when it is sent again; undefined: there is nothing left to show
   * @throws AuthenticationError for a server that is not the one expected
   */
  respond?(challenges: readonly string[]): Promise<HttpProof | undefined>;
  /**
   * Sees the headers, by lower-case name, and the status of the answer that is no 401: the server's own proof (RFC 4559 §4) and cookies to keep.
   * @throws AuthenticationError when the server could not prove itself; its answer is dropped then
   */
  complete?(
    headers: Readonly<Record<string, string | readonly string[] | undefined>>,
    status: number,
  ): void | Promise<void>;
}
