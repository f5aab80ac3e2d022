import { timingSafeEqual, X509Certificate } from "node:crypto";
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
import type { KeyAndCertificate } from "./identity.ts";

// grpc-js would log to the console; every failure of a call or a server is reported by its caller.
setLogVerbosity(logVerbosity.NONE);

const TLS_VERSION = "TLSv1.3";
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;

/** Pings detect half-open connections. */
const KEEPALIVE_INTERVAL_MS = 10_000;
const KEEPALIVE_TIMEOUT_MS = 5_000;
/** The longest time between the loss of a peer and the end of its stream. */
export const LONGEST_UNNOTICED_MS = KEEPALIVE_INTERVAL_MS + KEEPALIVE_TIMEOUT_MS;

const commonOptions = {
  "grpc.max_receive_message_length": MAX_MESSAGE_BYTES,
  "grpc.max_send_message_length": MAX_MESSAGE_BYTES,
  "grpc.keepalive_time_ms": KEEPALIVE_INTERVAL_MS,
  "grpc.keepalive_timeout_ms": KEEPALIVE_TIMEOUT_MS,
} as const satisfies ChannelOptions;

/** Channelz stays on: without it grpc-js 1.14 does not know its sessions, and forceShutdown cuts none of them. */
export const serverOptions: ChannelOptions = commonOptions;

/**
 * Options of a channel to the server of that name. Proxies of the environment lead out of the cluster and are ignored; retries
 * are left to the callers, which log each one.
 */
export function channelOptions(serverName: string): ChannelOptions {
  return {
    ...commonOptions,
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
 * No certificate authority is trusted. Without the option, and with any certificate in it, Node first parses all those that it comes with:
 * with Node 20 a sixth of what an executor's start costs.
 */
const NO_AUTHORITIES: string[] = [];

/**
 * TLS 1.3 towards a server that must show exactly one certificate. OpenSSL checks that the server holds its key; the certificate is
 * compared here, before anything is sent, in place of a search for who issued it.
 */
class PinnedChannelCredentials extends ChannelCredentials {
  readonly #pinned: Buffer;
  readonly #unverified = credentials.createFromSecureContext(
    createSecureContext({ ca: NO_AUTHORITIES, minVersion: TLS_VERSION }),
    { rejectUnauthorized: false },
  );

  constructor(certificate: string) {
    super();
    this.#pinned = new X509Certificate(certificate).raw;
  }

  override _isSecure(): boolean {
    return true;
  }

  override _equals(other: ChannelCredentials): boolean {
    return other instanceof PinnedChannelCredentials && isSame(other.#pinned, this.#pinned);
  }

  override _createSecureConnector(...target: Parameters<ChannelCredentials["_createSecureConnector"]>) {
    const connector = this.#unverified._createSecureConnector(...target);
    return {
      connect: async (socket: Socket) => this.#requirePinned(await connector.connect(socket)),
      waitForReady: () => connector.waitForReady(),
      getCallCredentials: () => connector.getCallCredentials(),
      destroy: () => connector.destroy(),
    };
  }

  #requirePinned<Connected extends { readonly socket: Socket }>(connected: Connected): Connected {
    const { socket } = connected;
    const shown = socket instanceof TLSSocket ? socket.getPeerX509Certificate() : undefined;
    if (shown !== undefined && isSame(shown.raw, this.#pinned)) return connected;
    socket.destroy();
    throw new Error("the server's certificate is not the pinned one");
  }
}

export function pinnedChannelCredentials(certificate: string): ChannelCredentials {
  return new PinnedChannelCredentials(certificate);
}

/** grpc-js has no public function that makes server credentials with a lowest TLS version. */
class PinnedServerCredentials extends ServerCredentials {
  readonly #identity: KeyAndCertificate;

  constructor(identity: KeyAndCertificate) {
    super(
      { minVersion: TLS_VERSION },
      { ca: NO_AUTHORITIES, cert: identity.certificate, key: identity.privateKey, minVersion: TLS_VERSION },
    );
    this.#identity = identity;
  }

  override _equals(other: ServerCredentials): boolean {
    return other instanceof PinnedServerCredentials && other.#identity.certificate === this.#identity.certificate;
  }
}

export function serverCredentials(identity: KeyAndCertificate): ServerCredentials {
  return new PinnedServerCredentials(identity);
}

function isSame(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === right.length && timingSafeEqual(left, right);
}
