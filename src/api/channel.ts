import { type CallOptions, Client, type MethodDefinition } from "@grpc/grpc-js";
import { bearerCredentials } from "./authentication.ts";
import { type ApiError, toApiError } from "./errors.ts";
import { channelOptions, pinnedChannelCredentials } from "./tls.ts";

export interface ChannelTarget {
  /** `host:port`, IPv6 in brackets. */
  readonly address: string;
  /** The name the server's certificate is made out to. */
  readonly serverName: string;
  readonly certificate: string;
  readonly secret: string;
}

/** One connection to one server; opened by the first call, closed by `close()`. */
export class Channel {
  readonly address: string;
  readonly #client: Client;

  constructor({ address, serverName, certificate, secret }: ChannelTarget) {
    this.address = address;
    const credentials = pinnedChannelCredentials(certificate).compose(bearerCredentials(secret));
    this.#client = new Client(`dns:${address}`, credentials, channelOptions(serverName));
  }

  openBidirectional<Request, Response>(method: MethodDefinition<Request, Response>) {
    const { path, requestSerialize, responseDeserialize } = method;
    return this.#client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize);
  }

  openServerStream<Request, Response>(method: MethodDefinition<Request, Response>, request: Request) {
    const { path, requestSerialize, responseDeserialize } = method;
    return this.#client.makeServerStreamRequest(path, requestSerialize, responseDeserialize, request);
  }

  /** Throws an ApiError. */
  call<Request, Response>(
    method: MethodDefinition<Request, Response>,
    request: Request,
    timeoutMs: number,
  ): Promise<Response> {
    const { path, requestSerialize, responseDeserialize } = method;
    const options: CallOptions = { deadline: Date.now() + timeoutMs };
    return new Promise((resolve, reject) => {
      this.#client.makeUnaryRequest(
        path,
        requestSerialize,
        responseDeserialize,
        request,
        options,
        (error, response) => {
          if (error === null && response !== undefined) resolve(response);
          else reject(this.toError(error));
        },
      );
    });
  }

  toError(error: unknown): ApiError {
    return toApiError(error, this.address);
  }

  close(): void {
    this.#client.close();
  }
}
