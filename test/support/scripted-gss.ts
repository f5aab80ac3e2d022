import {
  type GssApi,
  type GssContext,
  type GssCredential,
  GssError,
} from "../../src/hadoop/security/kerberos/gss-api.ts";

/** What a scripted Kerberos library knows. */
export interface GssScript {
  /** The principal that has a ticket; undefined: there is none. */
  readonly principal?: string | undefined;
  /** The trouble that `acquire` reports instead of giving a ticket. */
  readonly trouble?: string | undefined;
  readonly realms?: Readonly<Record<string, string>>;
}

/**
 * A Kerberos library without a KDC: tokens are readable (`alice@REALM to rm/host@REALM by krb5`), and each message is its number, a letter
 * for its protection, and the text, reversed where it is confidential.
 */
export class ScriptedGss implements GssApi {
  script: GssScript;
  readonly acquired: (string | undefined)[] = [];
  readonly initiated: string[] = [];

  constructor(script: GssScript) {
    this.script = script;
  }

  async acquire(login: Parameters<GssApi["acquire"]>[0]): Promise<GssCredential> {
    this.acquired.push(login?.principal);
    const { principal = login?.principal, trouble = "No Kerberos credentials available" } = this.script;
    if (principal === undefined || this.script.trouble !== undefined) throw new GssError(trouble);
    return { principal, remainingSeconds: 3_600 };
  }

  defaultRealm = async () => "EXAMPLE.COM";
  realmOf = async (host: string) => this.script.realms?.[host] ?? "EXAMPLE.COM";

  initiate(credential: GssCredential, mechanism: string, server: string): GssContext {
    const first = `${credential.principal} to ${server} by ${mechanism}`;
    this.initiated.push(first);
    let steps = 0;
    return {
      ...scriptedProtection(),
      step: async (token) => {
        steps += 1;
        if (steps === 1) return { token: Buffer.from(first), done: false };
        if (Buffer.from(token).toString() !== `${server} it is`) throw new GssError("A token had an invalid signature");
        return { token: Buffer.alloc(0), done: true };
      },
    };
  }
}

const headBytes = 2;

/** The protection of messages, for either side. */
export function scriptedProtection(): Pick<GssContext, "wrap" | "unwrap" | "maxMessageBytes"> {
  let sent = 0;
  let received = 0;
  return {
    wrap: (message, confidential) => {
      const head = Buffer.from([sent, confidential ? 1 : 0]);
      sent += 1;
      return Buffer.concat([head, confidential ? turned(message) : message]);
    },
    unwrap: (token) => {
      const [number, encrypted] = token;
      if (number !== received) throw new GssError("The token was a duplicate of an earlier token");
      received += 1;
      const message = token.subarray(headBytes);
      return { message: encrypted === 1 ? turned(message) : Buffer.from(message), confidential: encrypted === 1 };
    },
    maxMessageBytes: (tokenBytes) => tokenBytes - headBytes,
  };
}

function turned(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.map((byte) => byte ^ 0xff));
}
