import type { WireMethod } from "../wire/methods.ts";
import type { CallOptions, RpcClient } from "./client.ts";
import { decoded } from "./messages.ts";

type RequestOf<Method> = Method extends WireMethod<infer Request, unknown> ? Request : never;
type ResponseOf<Method> = Method extends WireMethod<never, infer Response> ? Response : never;

/** What `Methods` is, said for each name, so that a method can be looked up by a name that is not known yet. */
type Table<Methods> = {
  readonly [Name in keyof Methods]: WireMethod<RequestOf<Methods[Name]>, ResponseOf<Methods[Name]>>;
};

/** The methods of one service (src/hadoop/wire/methods.ts) over a client. */
export class ServiceClient<Methods> {
  readonly #client: RpcClient;
  readonly #methods: Table<Methods>;

  constructor(client: RpcClient, methods: Table<Methods>) {
    this.#client = client;
    this.#methods = methods;
  }

  /** Encodes the request, calls, decodes the answer. Rejects as RpcClient#call does. */
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
