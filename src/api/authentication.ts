import { createHash, timingSafeEqual } from "node:crypto";
import {
  type CallCredentials,
  credentials,
  Metadata,
  ServerInterceptingCall,
  type ServerInterceptor,
  ServerListenerBuilder,
  status,
} from "@grpc/grpc-js";

const HEADER = "authorization";
const SCHEME = "Bearer ";

/** Adds the secret to every call; grpc-js sends such metadata over TLS only. */
export function bearerCredentials(secret: string): CallCredentials {
  return credentials.createFromMetadataGenerator((_context, done) => {
    const metadata = new Metadata();
    metadata.set(HEADER, SCHEME + secret);
    done(null, metadata);
  });
}

/**
 * Lets a call through only with the secret of its service, compared in constant time. A call to a service that has no secret here is
 * refused. Nothing of a refused call, no message and no handler, runs.
 * @param secrets by the service's full name, `tony.v1.ClientService`
 */
export function requireSecret(secrets: Readonly<Record<string, string>>): ServerInterceptor {
  const digests = new Map(Object.entries(secrets).map(([service, secret]) => [service, digest(SCHEME + secret)]));
  return (method, call) => {
    const expected = digests.get(method.path.split("/")[1] ?? "");
    return new ServerInterceptingCall(call, {
      start(next) {
        const listener = new ServerListenerBuilder()
          .withOnReceiveMetadata((metadata, proceed) => {
            if (expected !== undefined && presents(metadata, expected)) proceed(metadata);
            else call.sendStatus({ code: status.UNAUTHENTICATED, details: "the secret is not this application's" });
          })
          .build();
        next(listener);
      },
    });
  };
}

function presents(metadata: Metadata, expected: Buffer): boolean {
  const values = metadata.get(HEADER);
  const [value] = values;
  return values.length === 1 && typeof value === "string" && timingSafeEqual(digest(value), expected);
}

/** Digests have one length, which timingSafeEqual needs, and do not reveal that of the secret. */
function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
