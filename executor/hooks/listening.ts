import { connect } from "node:net";
import type { HostPort } from "../../src/hadoop/conf/values.ts";

const CONNECT_TIMEOUT_MS = 1_000;

/** Whether a process of this machine, which others find by that name, accepts connections at the port; it is found out by connecting. */
export async function isListening({ host, port }: HostPort): Promise<boolean> {
  return (await accepts({ host: "localhost", port })) || (await accepts({ host, port }));
}

function accepts(address: HostPort): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(address);
    const answer = (open: boolean) => {
      socket.destroy();
      resolve(open);
    };
    socket.setTimeout(CONNECT_TIMEOUT_MS, () => answer(false));
    socket.once("connect", () => answer(true));
    socket.once("error", () => answer(false));
  });
}
