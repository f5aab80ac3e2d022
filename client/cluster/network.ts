import { lookup } from "node:dns/promises";
import { connect } from "node:net";
import { setTimeout } from "node:timers/promises";
import type { HostPort } from "../../src/hadoop/conf/values.ts";
import { errorCode } from "../../src/hadoop/errors.ts";

/** What this machine sees of the network. */
export interface Network {
  /** Empty for a host that the resolver does not know; undefined where it cannot tell. */
  addressesOf(host: string): Promise<readonly string[] | undefined>;
  /** Whether a connection is refused; silence is not a refusal. */
  refuses(server: HostPort): Promise<boolean>;
}

const PATIENCE_MS = 2_000;

export const thisMachinesNetwork: Network = {
  addressesOf: (host) => Promise.race([resolved(host), setTimeout(PATIENCE_MS, undefined, { ref: false })]),
  refuses,
};

async function resolved(host: string): Promise<readonly string[] | undefined> {
  try {
    return (await lookup(host, { all: true })).map(({ address }) => address);
  } catch (error) {
    return errorCode(error) === "ENOTFOUND" ? [] : undefined;
  }
}

function refuses({ host, port }: HostPort): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: PATIENCE_MS }).unref();
    const tell = (refused: boolean) => {
      socket.destroy();
      resolve(refused);
    };
    socket.once("connect", () => tell(false)).once("timeout", () => tell(false));
    socket.on("error", (error) => tell(errorCode(error) === "ECONNREFUSED"));
  });
}
