import { createHmac, timingSafeEqual, X509Certificate } from "node:crypto";
import {
  type CallCredentials,
  credentials,
  InterceptingCall,
  type Interceptor,
  ListenerBuilder,
  Metadata,
  RequesterBuilder,
  ServerInterceptingCall,
  type ServerInterceptor,
  ServerListenerBuilder,
  type StatusObject,
  status,
} from "@grpc/grpc-js";
import type { Caller, Callers, CallRefusal, SecretOf } from "./caller.ts";
import type { CallerCalls, EnteredCall } from "./caller-calls.ts";
import type { Proofs } from "./connection-guard.ts";
import { type Turn, Turns } from "./turns.ts";

const CALLER_HEADER = "authorization";
const SCHEME = "Tony";
const SERVER_HEADER = "tony-server-proof";
/**
 * A server reads only a few requests of a caller at a time (CallerCalls): a client that reads the logs of all tasks at once sends them in
 * turns.
 */
const MOST_UNPROVED = 8;
/** Set by the server itself, for a caller that has proved its name. */
const VERIFIED_HEADER = "tony-caller";

/**
 * The caller's side of one connection to one server. Caller and server prove to each other that they know the secret that belongs to the
 * caller's name, without revealing it: each sends a MAC of the certificate that the server presents, like TLS's channel binding
 * tls-server-end-point (RFC 5929 §4). A man in the middle presents another certificate, and can use neither proof anywhere.
 */
export class CallerAuthentication {
  readonly #caller: Caller;
  #certificate: Buffer | undefined;
  readonly #turns = new Turns(MOST_UNPROVED);

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** Takes the certificate that the server presents, in DER. @returns false if it differs from the one presented before */
  isShown(certificate: Buffer): boolean {
    this.#certificate ??= certificate;
    return this.#certificate.equals(certificate);
  }

  /** Adds the caller's proof to each call, once connected; grpc-js sends such metadata over TLS only. */
  get credentials(): CallCredentials {
    return credentials.createFromMetadataGenerator((_context, done) => {
      const metadata = new Metadata();
      metadata.set(CALLER_HEADER, `${SCHEME} ${this.#caller.name} ${this.#proof("caller")}`);
      done(null, metadata);
    });
  }

  /** Until the server has proved itself, sends nothing and believes nothing, neither messages nor the call's status. */
  readonly interceptor: Interceptor = (options, nextCall) => {
    let isProved = false;
    let isCancelled = false;
    const held: (() => void)[] = [];
    let turn: Turn | undefined;
    const call = new InterceptingCall(
      nextCall(options),
      new RequesterBuilder()
        .withStart((metadata, _listener, next) => {
          const listener = new ListenerBuilder()
            .withOnReceiveMetadata((received, proceed) => {
              turn?.end();
              isProved = isOnly(received.get(SERVER_HEADER), this.#proof("server"));
              if (!isProved) call.cancelWithStatus(status.UNAUTHENTICATED, "the server does not know the secret");
              proceed(received);
              if (isProved) for (const send of held.splice(0)) send();
            })
            // grpc-js reports the absence of a message before it reports why there is none.
            .withOnReceiveMessage((message, proceed) => proceed(isProved ? message : null))
            .withOnReceiveStatus((ended, proceed) => {
              turn?.end();
              const isOwn = isProved || (isCancelled && ended.code === status.CANCELLED);
              proceed(isOwn ? ended : unprovedStatus(ended));
            })
            .build();
          // grpc-js enforces the deadline only of calls that have begun.
          if (options.deadline !== undefined) next(metadata, listener);
          else turn = this.#turns.take(() => next(metadata, listener));
        })
        .withSendMessage((message, next) => {
          // grpc-js supplies the next message once this one is sent.
          if (isProved) next(message);
          else held.push(() => next(message));
        })
        // grpc-js would half-close a call that begins late before sending its message.
        .withHalfClose((next) => {
          if (isProved) next();
          else held.push(next);
        })
        .withCancel((next) => {
          isCancelled = true;
          turn?.begin();
          next();
        })
        .build(),
    );
    return call;
  };

  #proof(side: Side): string {
    if (this.#certificate === undefined)
      throw new RangeError("nothing is proved before the server's certificate is known");
    return proofOf(this.#caller.secret, side, this.#certificate);
  }
}

/** Statuses that grpc-js itself creates: no connection or no answer in time, and a stream that was reset. */
const NO_ANSWER: readonly status[] = [status.UNAVAILABLE, status.DEADLINE_EXCEEDED];
const RESET: readonly status[] = [status.INTERNAL, status.CANCELLED, status.RESOURCE_EXHAUSTED];

/**
 * The status of a call whose server did not prove itself. Anything that an impostor could have sent says nothing about the job: a refusal
 * of our own proof remains one, connection trouble may pass, and everything else comes from a server that does not know the secret.
 */
function unprovedStatus(ended: StatusObject): StatusObject {
  if (ended.code === status.UNAUTHENTICATED || NO_ANSWER.includes(ended.code)) return ended;
  return RESET.includes(ended.code)
    ? { ...ended, code: status.UNAVAILABLE, details: "the connection was lost before the server proved itself" }
    : { ...ended, code: status.UNAUTHENTICATED, details: "the server does not know the secret" };
}

/** The checks that a server makes before it lets a call in. */
export interface ServerDoor {
  /** By the service's full name, `tony.v1.ClientService`; a service without an entry is closed. */
  readonly callers: Callers;
  /** Absent: whoever has a service's secret may call all its methods. */
  readonly refusal?: CallRefusal | undefined;
  /** Is told of each call. */
  readonly proofs: Proofs;
  readonly calls: CallerCalls;
}

/**
 * The server's side. Lets a call through only with the proof of a caller of its service who may call that method and does not have too many
 * calls, and proves the server to that caller. Of a refused call nothing is read, and no handler runs.
 * @param certificate the server's, PEM
 */
export function requireProof(certificate: string, door: ServerDoor): ServerInterceptor {
  const { raw } = new X509Certificate(certificate);
  const services = new Map(Object.entries(door.callers));
  return (method, call) => {
    const secretOf = services.get(method.path.split("/")[1] ?? "");
    let entered: EnteredCall | undefined;
    let isOver = false;
    let letInOf: string | undefined;
    const left = () => {
      if (isOver && letInOf !== undefined) door.proofs.left(letInOf);
    };
    const refuse = (code: status, details: string) => {
      call.sendStatus({ code, details });
      door.proofs.refused(call.getPeer());
    };
    const begin = async (caller: Caller, letIn: () => void) => {
      const why = await door.refusal?.(caller.name, method.path);
      const peer = call.getPeer();
      if (why !== undefined) refuse(status.PERMISSION_DENIED, why);
      else if (door.proofs.proven(peer, caller.name)) {
        letInOf = peer;
        left();
        letIn();
      } else refuse(status.UNAVAILABLE, "the caller has too many connections");
    };
    return new ServerInterceptingCall(call, {
      start(next) {
        const listener = new ServerListenerBuilder()
          .withOnReceiveMetadata((metadata, proceed) => {
            const caller = secretOf && provedCaller(metadata, secretOf, raw);
            if (caller === undefined) {
              refuse(status.UNAUTHENTICATED, "the caller does not know the secret");
              return;
            }
            const answer = new Metadata();
            answer.set(SERVER_HEADER, proofOf(caller.secret, "server", raw));
            metadata.remove(CALLER_HEADER);
            metadata.set(VERIFIED_HEADER, caller.name);
            entered = door.calls.enter(caller.name, {
              begin: () => {
                call.sendMetadata(answer);
                void begin(caller, () => proceed(metadata));
              },
              late: () => refuse(status.DEADLINE_EXCEEDED, "the call did not say in time what it is for"),
            });
            if (entered !== undefined) return;
            call.sendMetadata(answer);
            refuse(status.UNAVAILABLE, "the caller has too many calls");
          })
          .withOnReceiveMessage((message, proceed) => {
            if (method.requestStream) entered?.asked();
            proceed(message);
          })
          .withOnReceiveHalfClose((proceed) => {
            entered?.asked();
            proceed();
          })
          .withOnCancel(() => {
            entered?.leave();
            isOver = true;
            left();
          })
          .build();
        next(listener);
      },
    });
  };
}

/** The caller whose call a handler has received. */
export function callerName(metadata: Metadata): string {
  return String(metadata.get(VERIFIED_HEADER)[0] ?? "");
}

function provedCaller(metadata: Metadata, secretOf: SecretOf, certificate: Buffer): Caller | undefined {
  const values = metadata.get(CALLER_HEADER);
  const [scheme, name = ""] = String(values[0] ?? "").split(" ");
  const secret = scheme === SCHEME ? secretOf(name) : undefined;
  if (secret === undefined) return undefined;
  return isOnly(values, `${SCHEME} ${name} ${proofOf(secret, "caller", certificate)}`) ? { name, secret } : undefined;
}

type Side = "caller" | "server";

/** The proof differs for the two sides, so that neither can be sent back as the other's. */
function proofOf(secret: Uint8Array, side: Side, certificate: Buffer): string {
  return createHmac("sha256", secret).update(`${side} `).update(certificate).digest("base64url");
}

/** Whether the only value is the expected one, compared in constant time. */
function isOnly(values: readonly (string | Buffer)[], expected: string): boolean {
  const [value] = values;
  const [given, wanted] = [Buffer.from(value ?? ""), Buffer.from(expected)];
  return values.length === 1 && given.length === wanted.length && timingSafeEqual(given, wanted);
}
