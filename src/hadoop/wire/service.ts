import type protobuf from "protobufjs/light.js";
import { declared } from "./declared.ts";

/** Names of the methods that a generated service declares. */
export type MethodName<Service> = {
  [Name in keyof Service]: Service[Name] extends { readonly requestType: string } ? Name & string : never;
}[keyof Service];

/** A method as the generator declares it: callback form first, promise form last. */
interface DeclaredMethod<Request, Response> {
  (request: Request, callback: never): void;
  (request: Request): Promise<Response>;
}

export type RequestOf<Service, Name extends MethodName<Service>> =
  Service[Name] extends DeclaredMethod<infer Request, unknown> ? Request : never;

export type ResponseOf<Service, Name extends MethodName<Service>> =
  Service[Name] extends DeclaredMethod<never, infer Response> ? Response : never;

/** Bytes ⇄ messages of one method. */
export interface WireMethod<Request, Response> {
  encodeDelimited(request: Request): Uint8Array;
  /** Throws protobufjs's ProtocolError for bytes that are no such message. */
  decode(bytes: Uint8Array): Response;
}

/** What is used of a generated message type. */
interface MessageType<Message> {
  encodeDelimited(message: Message): { finish(): Uint8Array };
  decode(bytes: Uint8Array): Message;
}

/** A service whose messages are looked up by the name of the method. */
export class WireService<Service> {
  readonly #service: protobuf.Service;

  constructor(service: protobuf.Service) {
    this.#service = service;
  }

  method<Name extends MethodName<Service>>(
    name: Name,
  ): WireMethod<RequestOf<Service, Name>, ResponseOf<Service, Name>> {
    const method = this.#service.methods[name];
    method?.resolve();
    if (!method?.resolvedRequestType || !method.resolvedResponseType) {
      throw new TypeError(`${this.#service.name} has no method ${name}`);
    }
    const requestType = declared<MessageType<RequestOf<Service, Name>>>(method.resolvedRequestType);
    const responseType = declared<MessageType<ResponseOf<Service, Name>>>(method.resolvedResponseType);
    return {
      encodeDelimited: (request) => requestType.encodeDelimited(request).finish(),
      decode: (bytes) => responseType.decode(bytes),
    };
  }
}
