import type { Socket } from "node:net";
import { createSecureContext, TLSSocket } from "node:tls";
import {
  ChannelCredentials,
  type ChannelOptions,
  credentials,
  logVerbosity,
  ServerCredentials,
  setLogVerbosity,
} from "@grpc/grpc-js";
import type { CallerAuthentication } from "./authentication.ts";
import { FIRST_STREAMS, MOST_HEADERS_BYTES } from "./connection-guard.ts";
import { KEEPALIVE_INTERVAL_MS, KEEPALIVE_TIMEOUT_MS } from "./keepalive.ts";
import type { KeyAndCertificate } from "./server-key.ts";

// grpc-js would log to the console; every failure of a call or a server is reported by its caller.
setLogVerbosity(logVerbosity.NONE);

const TLS_VERSION = "TLSv1.3";
/** For messages from servers: a cluster spec, a status, the job. */
export const MOST_ANSWER_BYTES = 64 * 1024 * 1024;
/** For messages to servers: 64 KiB of a log or a session, a command's words, the last lines of a program. */
export const MOST_REQUEST_BYTES = 256 * 1024;

const commonOptions = {
  "grpc.keepalive_time_ms": KEEPALIVE_INTERVAL_MS,
  "grpc.keepalive_timeout_ms": KEEPALIVE_TIMEOUT_MS,
} as const satisfies ChannelOptions;

/** A caller without requests reconnects when it has one. */
export const UNUSED_MS = 300_000;

/** Channelz stays on: without it grpc-js 1.14 does not track its sessions, and forceShutdown cuts none of them. */
export const serverOptions: ChannelOptions = {
  ...commonOptions,
  "grpc.max_receive_message_length": MOST_REQUEST_BYTES,
  "grpc.max_send_message_length": MOST_ANSWER_BYTES,
  "grpc.max_connection_idle_ms": UNUSED_MS,
};

/**
 * Options of a channel to the server of that name. The proxies of the environment lead out of the cluster and are ignored. Retries are left
 * to the callers, which log each one.
 */
export function channelOptions(serverName: string): ChannelOptions {
  return {
    ...commonOptions,
    "grpc.max_receive_message_length": MOST_ANSWER_BYTES,
    "grpc.max_send_message_length": MOST_REQUEST_BYTES,
    "grpc.keepalive_permit_without_calls": 1,
    "grpc.ssl_target_name_override": serverName,
    "grpc.default_authority": serverName,
    "grpc.enable_http_proxy": 0,
    "grpc.enable_channelz": 0,
    "grpc.enable_retries": 0,
    "grpc.service_config_disable_resolution": 1,
    "grpc.use_local_subchannel_pool": 1,
  };
}

/**
 * No certificate authority is trusted. Without this option, or with any certificate in it, Node first parses all its built-in certificates:
 * with Node 20 that takes a sixth of an executor's start.
 */
const NO_AUTHORITIES: string[] = [];

/**
 * TLS 1.3 to a server with any self-made certificate: OpenSSL checks that the server holds its key. Each call proves that it is the right
 * one, so all connections of a channel must present the same certificate.
 */
class ProvedChannelCredentials extends ChannelCredentials {
  readonly #authentication: CallerAuthentication;
  readonly #unverified = credentials.createFromSecureContext(
    createSecureContext({ ca: NO_AUTHORITIES, minVersion: TLS_VERSION }),
    { rejectUnauthorized: false },
  );

  constructor(authentication: CallerAuthentication) {
    super();
    this.#authentication = authentication;
  }

  override _isSecure(): boolean {
    return true;
  }

  override _equals(other: ChannelCredentials): boolean {
    return this === other;
  }

  override _createSecureConnector(...target: Parameters<ChannelCredentials["_createSecureConnector"]>) {
    const connector = this.#unverified._createSecureConnector(...target);
    return {
      connect: async (socket: Socket) => this.#requireSame(await connector.connect(socket)),
      waitForReady: () => connector.waitForReady(),
      getCallCredentials: () => connector.getCallCredentials(),
      destroy: () => connector.destroy(),
    };
  }

  #requireSame<Connected extends { readonly socket: Socket }>(connected: Connected): Connected {
    const { socket } = connected;
    const shown = socket instanceof TLSSocket ? socket.getPeerX509Certificate() : undefined;
    if (shown !== undefined && this.#authentication.isShown(shown.raw)) return connected;
    socket.destroy();
    throw new Error("the server's certificate is not the one it showed before");
  }
}

export function channelCredentials(authentication: CallerAuthentication): ChannelCredentials {
  return new ProvedChannelCredentials(authentication);
}

/** grpc-js has no public function that creates server credentials with a minimum TLS version. */
class OwnServerCredentials extends ServerCredentials {
  readonly #identity: KeyAndCertificate;

  constructor(identity: KeyAndCertificate) {
    super(
      {
        minVersion: TLS_VERSION,
        // Replaces grpc-js' own settings, which do not limit headers.
        settings: { maxConcurrentStreams: FIRST_STREAMS, maxHeaderListSize: MOST_HEADERS_BYTES },
      },
      { ca: NO_AUTHORITIES, cert: identity.certificate, key: identity.privateKey, minVersion: TLS_VERSION },
    );
    this.#identity = identity;
  }

  override _equals(other: ServerCredentials): boolean {
    return other instanceof OwnServerCredentials && other.#identity.certificate === this.#identity.certificate;
  }
}

export function serverCredentials(identity: KeyAndCertificate): ServerCredentials {
  return new OwnServerCredentials(identity);
}
