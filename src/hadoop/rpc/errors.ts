import { HadoopError } from "../errors.ts";

/** The bytes do not follow Hadoop's protocol: another kind of server, or corruption on the way. Never retried. */
export class RpcProtocolError extends HadoopError {
  override readonly name = "RpcProtocolError";

  constructor(message: string, cause?: unknown) {
    super(message, { code: "RPC_PROTOCOL", cause });
  }
}

/** `RPC_CLOSED`: we closed it. */
export type RpcConnectionErrorCode = "RPC_CONNECT_FAILED" | "RPC_CONNECTION_LOST" | "RPC_CLOSED";

/** The connection could not be established, or ended before the answer. */
export class RpcConnectionError extends HadoopError {
  override readonly name = "RpcConnectionError";

  constructor(message: string, options: { readonly code: RpcConnectionErrorCode; readonly cause?: unknown }) {
    super(message, { ...options, retryable: options.code !== "RPC_CLOSED" });
  }
}

/** No answer within the timeout. The server may still carry the call out; its late answer is dropped. */
export class RpcTimeoutError extends HadoopError {
  override readonly name = "RpcTimeoutError";

  constructor(message: string) {
    super(message, { code: "RPC_TIMEOUT", retryable: true });
  }
}
