import type { MethodName, RequestOf, ResponseOf, WireService } from "../wire/service.ts";
import type { CallOptions, RpcClient } from "./client.ts";
import { decoded } from "./messages.ts";

/** The typed methods of one protobuf service over a client. */
export class ServiceClient<Service> {
  readonly #client: RpcClient;
  readonly #service: WireService<Service>;

  constructor(client: RpcClient, service: WireService<Service>) {
    this.#client = client;
    this.#service = service;
  }

  /** Encodes the request, calls, decodes the answer. Rejects as RpcClient#call does. */
  async call<Name extends MethodName<Service>>(
    name: Name,
    request: RequestOf<Service, Name>,
    options?: CallOptions,
  ): Promise<ResponseOf<Service, Name>> {
    const method = this.#service.method(name);
    const answer = await this.#client.call(name, method.encodeDelimited(request), options);
    return decoded(`answer to ${name}`, () => method.decode(answer));
  }
}
