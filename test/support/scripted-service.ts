import type { Token } from "../../src/hadoop/security/token.ts";
import { common } from "../../src/hadoop/wire/common.ts";
import { digestAccepted } from "./digest-server.ts";
import {
  type Behaviour,
  failureFrame,
  type ReceivedCall,
  type ServedConnection,
  saslOf,
  saslReply,
} from "./rpc-server.ts";

const { SaslState } = common.RpcSaslProto;

/** What a script does with a call: answers with bytes, throws a Java exception, or ends the connection. */
export type Answer =
  | { readonly bytes: Uint8Array }
  | { readonly exception: string; readonly message?: string }
  | "hang up";

/** A server that checks a token (without protection) and answers calls by a script. */
export function scripted(
  token: () => Token,
  script: (call: ReceivedCall, connection: ServedConnection) => Answer,
): Behaviour {
  return {
    onFrame: (connection, frame) => {
      if (connection.frames.length > 2) return;
      const message = saslOf(frame);
      if (message.state === SaslState.NEGOTIATE) {
        const challenge = Buffer.from(
          'realm="default",nonce="server-nonce",qop="auth",charset=utf-8,algorithm=md5-sess',
        );
        const auths = [{ method: "TOKEN", mechanism: "DIGEST-MD5", protocol: "", serverId: "default", challenge }];
        connection.socket.write(saslReply({ state: SaslState.NEGOTIATE, auths }));
      } else {
        const { proof } = digestAccepted(token(), "auth", message.token);
        connection.socket.write(saslReply({ state: SaslState.SUCCESS, token: Buffer.from(`rspauth=${proof}`) }));
      }
    },
    onCall: (connection, call) => {
      const answer = script(call, connection);
      if (answer === "hang up") connection.socket.destroy();
      else if ("bytes" in answer) connection.reply(call.callId, answer.bytes);
      else connection.socket.write(failureFrame(call.callId, "ERROR", answer.exception, answer.message ?? ""));
    },
  };
}
