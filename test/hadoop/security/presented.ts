import { parseDirectives } from "../../../src/hadoop/security/sasl/digest-md5.ts";
import type { AuthenticationStrategy } from "../../../src/hadoop/security/sasl/mechanism.ts";

const challenge = Buffer.from(
  'realm="default",nonce="n",qop="auth,auth-int,auth-conf",charset=utf-8,cipher="3des,rc4",algorithm=md5-sess',
);

/** The protection that each strategy chooses when a server offers all of them. */
export async function protectionsOf(strategies: readonly AuthenticationStrategy[]): Promise<(string | undefined)[]> {
  const offer = { method: "TOKEN", mechanism: "DIGEST-MD5", protocol: "", serverId: "default", challenge };
  return await Promise.all(
    strategies.map(async ({ start }) => {
      const response = await (await start(offer))?.respond(challenge);
      return parseDirectives(response ?? new Uint8Array()).get("qop");
    }),
  );
}
