import { type CallOptions, Client, type MethodDefinition } from "@grpc/grpc-js";
import { CallerAuthentication } from "./authentication.ts";
import type { Caller } from "./caller.ts";
import { type ApiError, toApiError } from "./errors.ts";
import { channelCredentials, channelOptions } from "./tls.ts";

export interface ChannelTarget {
  /** `host:port`, IPv6 in brackets. */
  readonly address: string;
  /** The name for which the server's certificate is issued. */
  readonly serverName: string;
  readonly caller: Caller;
}

/** One connection to one server; opened by the first call, closed by `close()`. */
export class Channel {
  readonly address: string;
  readonly #client: Client;

  constructor({ address, serverName, caller }: ChannelTarget) {
    this.address = address;
    const authentication = new CallerAuthentication(caller);
    const credentials = channelCredentials(authentication).compose(authentication.credentials);
    const interceptors = [authentication.interceptor];
    this.#client = new Client(`dns:${address}`, credentials, { ...channelOptions(serverName), interceptors });
  }

  openBidirectional<Request, Response>(method: MethodDefinition<Request, Response>) {
    const { path, requestSerialize, responseDeserialize } = method;
    return this.#client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize);
  }

  openServerStream<Request, Response>(method: MethodDefinition<Request, Response>, request: Request) {
    const { path, requestSerialize, responseDeserialize } = method;
    return this.#client.makeServerStreamRequest(path, requestSerialize, responseDeserialize, request);
  }

  /** Throws an ApiError. @param gone cancels the call */
  call<Request, Response>(
    method: MethodDefinition<Request, Response>,
    request: Request,
    timeoutMs: number,
    gone?: AbortSignal,
  ): Promise<Response> {
    const { path, requestSerialize, responseDeserialize } = method;
    const options: CallOptions = { deadline: Date.now() + timeoutMs };
    return new Promise((resolve, reject) => {
      const call = this.#client.makeUnaryRequest(
        path,
        requestSerialize,
        responseDeserialize,
        request,
        options,
        (error, response) => {
          gone?.removeEventListener("abort", cancel);
          if (error === null && response !== undefined) resolve(response);
          else reject(this.toError(error));
        },
      );
      const cancel = () => call.cancel();
      gone?.addEventListener("abort", cancel);
    });
  }

  toError(error: unknown): ApiError {
    return toApiError(error, this.address);
  }

  close(): void {
    this.#client.close();
  }
}
