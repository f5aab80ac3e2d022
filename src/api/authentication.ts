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
/** A server reads few requests of a caller at a time (CallerCalls): a client that reads the logs of all tasks at once takes turns. */
const MOST_UNPROVED = 8;
/** Set by the server itself, of a caller that has proved its name. */
const VERIFIED_HEADER = "tony-caller";

/**
 * The caller's side, of one connection to one server. How a caller and a server prove to each other that they know the secret of the
 * caller's name, without telling it: each sends a MAC of the certificate that the server shows, as TLS's channel binding
 * tls-server-end-point does (RFC 5929 §4). Who stands between the two shows another certificate, and can use neither proof anywhere.
 */
export class CallerAuthentication {
  readonly #caller: Caller;
  #certificate: Buffer | undefined;
  readonly #turns = new Turns(MOST_UNPROVED);

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** Takes the certificate that the server shows, in DER. @returns false where it is not the one that was shown before */
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

  /** Sends and believes nothing, neither messages nor how the call ends, before the server has proved itself. */
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
            // grpc-js tells of no message before it tells why there is none.
            .withOnReceiveMessage((message, proceed) => proceed(isProved ? message : null))
            .withOnReceiveStatus((ended, proceed) => {
              turn?.end();
              const isOwn = isProved || (isCancelled && ended.code === status.CANCELLED);
              proceed(isOwn ? ended : unprovedStatus(ended));
            })
            .build();
          // grpc-js watches a deadline only of what has begun.
          if (options.deadline !== undefined) next(metadata, listener);
          else turn = this.#turns.take(() => next(metadata, listener));
        })
        .withSendMessage((message, next) => {
          // grpc-js gives the next message when this one is sent.
          if (isProved) next(message);
          else held.push(() => next(message));
        })
        // grpc-js would end a call that begins late before its message.
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

/** Ends of a call that grpc-js itself tells of: no connection or no answer in time, and a stream that was reset. */
const NO_ANSWER: readonly status[] = [status.UNAVAILABLE, status.DEADLINE_EXCEEDED];
const RESET: readonly status[] = [status.INTERNAL, status.CANCELLED, status.RESOURCE_EXHAUSTED];

/**
 * How a call ended whose server did not prove itself. What anybody could have sent says nothing of the job: a refusal of our own proof
 * stays one, trouble of the connection may pass, and all else comes from a server that does not know the secret.
 */
function unprovedStatus(ended: StatusObject): StatusObject {
  if (ended.code === status.UNAUTHENTICATED || NO_ANSWER.includes(ended.code)) return ended;
  return RESET.includes(ended.code)
    ? { ...ended, code: status.UNAVAILABLE, details: "the connection was lost before the server proved itself" }
    : { ...ended, code: status.UNAUTHENTICATED, details: "the server does not know the secret" };
}

/** What stands at a server's door. */
export interface ServerDoor {
  /** By the service's full name, `tony.v1.ClientService`; a service without is closed. */
  readonly callers: Callers;
  /** Absent: who has a service's secret may call each of its methods. */
  readonly refusal?: CallRefusal | undefined;
  /** Is told of each call. */
  readonly proofs: Proofs;
  readonly calls: CallerCalls;
}

/**
 * The server's side: lets a call through only with the proof of a caller of its service who may call that method and has not too many calls,
 * and proves itself to that caller. Nothing of a refused call, no message and no handler, runs or is read.
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

/** Who makes the call that a handler is given. */
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

/** Another one for each side, so that neither can be sent back as the other's. */
function proofOf(secret: Uint8Array, side: Side, certificate: Buffer): string {
  return createHmac("sha256", secret).update(`${side} `).update(certificate).digest("base64url");
}

/** Whether that is the one value, compared in constant time. */
function isOnly(values: readonly (string | Buffer)[], expected: string): boolean {
  const [value] = values;
  const [given, wanted] = [Buffer.from(value ?? ""), Buffer.from(expected)];
  return values.length === 1 && given.length === wanted.length && timingSafeEqual(given, wanted);
}
