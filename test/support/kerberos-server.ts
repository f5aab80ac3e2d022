import { FrameReader, readDelimited } from "../../src/hadoop/rpc/frame.ts";
import { connectionContextCallId } from "../../src/hadoop/rpc/messages.ts";
import { common } from "../../src/hadoop/wire/common.ts";
import {
  type Behaviour,
  callOf,
  headerOf,
  replyFrame,
  type ServedConnection,
  saslOf,
  saslReply,
} from "./rpc-server.ts";
import { scriptedProtection } from "./scripted-gss.ts";

const { SaslState } = common.RpcSaslProto;

interface Session {
  readonly protection: ReturnType<typeof scriptedProtection>;
  readonly reader: FrameReader;
  /** Whether what follows is wrapped. */
  layered: boolean;
}

/**
 * A server that speaks Kerberos as ScriptedGss does, offers these protections (a sum of 1, 2 and 4), and answers each call with the name
 * that it takes the caller to have.
 */
export function kerberosServer(server: { readonly principal: string; readonly layers: number }): Behaviour {
  const [protocol = "", serverId = ""] = server.principal.split(/[/@]/);
  const auths = [{ method: "KERBEROS", mechanism: "GSSAPI", protocol, serverId }];
  const sessions = new WeakMap<ServedConnection, Session>();
  const users = new WeakMap<ServedConnection, string>();

  function received(connection: ServedConnection, frame: Buffer, reply: (bytes: Buffer) => void): void {
    const { header, next } = headerOf(frame);
    if (header.callId === connectionContextCallId) {
      const { userInfo } = common.IpcConnectionContextProto.decode(readDelimited(frame, next).bytes);
      users.set(connection, [userInfo?.effectiveUser, userInfo?.realUser].filter(Boolean).join(" for "));
    }
    const call = callOf(frame);
    if (call !== undefined) reply(replyFrame(call.callId, Buffer.from(users.get(connection) ?? "nobody")));
  }

  return {
    onFrame: (connection, frame) => {
      const { socket } = connection;
      if (headerOf(frame).header.callId !== -33) {
        received(connection, frame, (bytes) => socket.write(bytes));
        return;
      }
      const { state, token } = saslOf(frame);
      const session = sessions.get(connection);
      if (state === SaslState.NEGOTIATE) {
        socket.write(saslReply({ state: SaslState.NEGOTIATE, auths }));
      } else if (state === SaslState.INITIATE) {
        sessions.set(connection, { protection: scriptedProtection(), reader: new FrameReader(), layered: false });
        socket.write(saslReply({ state: SaslState.CHALLENGE, token: Buffer.from(`${server.principal} it is`) }));
      } else if (session !== undefined && state === SaslState.RESPONSE && token.length === 0) {
        const offer = session.protection.wrap(Buffer.from([server.layers, 0, 1, 0]), false);
        socket.write(saslReply({ state: SaslState.CHALLENGE, token: offer }));
      } else if (session !== undefined && state === SaslState.RESPONSE) {
        session.layered = session.protection.unwrap(token).message[0] !== 1;
        socket.write(saslReply({ state: SaslState.SUCCESS }));
      } else if (session !== undefined) {
        for (const inner of session.reader.push(session.protection.unwrap(token).message)) {
          received(connection, inner, (bytes) => {
            socket.write(saslReply({ state: SaslState.WRAP, token: session.protection.wrap(bytes, true) }));
          });
        }
      }
    },
  };
}
