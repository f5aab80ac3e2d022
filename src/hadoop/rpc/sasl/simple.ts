import type { AuthenticationStrategy } from "./mechanism.ts";

/** SIMPLE: the server believes the user name of the connection context. */
export const simple: AuthenticationStrategy = { method: "SIMPLE", mechanism: "", start: () => undefined };
