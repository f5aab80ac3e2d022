import type { WireMethod } from "../wire/codec.ts";
import type { CallOptions, RpcClient } from "./client.ts";
import { decoded } from "./messages.ts";

/** The request type of a method. */
export type RequestOf<Method> = Method extends WireMethod<infer Request, unknown> ? Request : never;
/** The response type of a method. */
export type ResponseOf<Method> = Method extends WireMethod<never, infer Response> ? Response : never;

/** The methods of a service, named as in its .proto; `Methods` is their type. */
export type ServiceMethods<Methods> = {
  readonly [Name in keyof Methods]: WireMethod<RequestOf<Methods[Name]>, ResponseOf<Methods[Name]>>;
};

/** The methods of one service over a client. Another Hadoop protocol needs only a table of its methods, made with wireMethod. */
export class ServiceClient<Methods> {
  readonly #client: RpcClient;
  readonly #methods: ServiceMethods<Methods>;

  /** @param client its `protocol` is the Java interface with these methods */
  constructor(client: RpcClient, methods: ServiceMethods<Methods>) {
    this.#client = client;
    this.#methods = methods;
  }

  /** Encodes the request, makes the call, decodes the answer. Rejects as RpcClient#call does. */
  async call<Name extends keyof Methods & string>(
    name: Name,
    request: RequestOf<Methods[Name]>,
    options?: CallOptions,
  ): Promise<ResponseOf<Methods[Name]>> {
    const method = this.#methods[name];
    const answer = await this.#client.call(name, method.encode(request), options);
    return decoded(`answer to ${name}`, () => method.decode(answer));
  }
}
