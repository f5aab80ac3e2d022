import { once } from "node:events";
import { connect, createServer } from "node:net";
import { afterEach, describe, expect, test } from "@jest/globals";
import { isOwnListener, isTrusted, otherEnd, parseTcpTable, tcpSockets } from "../src/tcp-sockets.ts";
import { listenLocally, localAddress } from "./support/local-port.ts";

const header =
  "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode                    ";
const closings: (() => unknown)[] = [];
afterEach(() => {
  for (const close of closings.splice(0).reverse()) close();
});

describe("the kernel's tables of TCP sockets", () => {
  test("say who listens, and who is connected to whom", () => {
    const table = [
      header,
      "   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1001        0 25017 1 0 100 0 0 10 0",
      "   1: 0B00007F:1F90 0C00007F:D431 01 00000000:00000000 00:00000000 00000000     0        0 25018 1 0 100 0 0 10 0",
    ];
    expect(parseTcpTable(table.join("\n"))).toEqual([
      { localAddress: "127.0.0.1", localPort: 8080, remoteAddress: "0.0.0.0", remotePort: 0, listens: true, uid: 1001 },
      {
        localAddress: "127.0.0.11",
        localPort: 8080,
        remoteAddress: "127.0.0.12",
        remotePort: 54321,
        listens: false,
        uid: 0,
      },
    ]);
  });

  test("of IPv6 too, where an address of IPv4 is meant by one of IPv6", () => {
    const ends = ["00000000000000000000000000000000:1F90", "0000000000000000FFFF00000100007F:D431"];
    const others = ["B80D0120000000000000000001000000:0016", "00000000000000000000000001000000:0016"];
    const line = (local: string, remote: string) => `   0: ${local} ${remote} 01 0:0 00:0 0 7 0 1`;
    expect(
      [line(ends[0] ?? "", ends[1] ?? ""), line(others[0] ?? "", others[1] ?? "")]
        .flatMap(parseTcpTable)
        .map(({ localAddress, remoteAddress }) => [localAddress, remoteAddress]),
    ).toEqual([
      ["::", "127.0.0.1"],
      ["2001:db8::1", "::1"],
    ]);
  });

  test("name nobody of a socket that no process has: of a closed one, and one that is not accepted, they say root", () => {
    const line = "0: 0100007F:B26D 0100007F:A180 08 00000000:00000000 00:00000000 00000000     0        0 0 3 0";
    const [closed] = parseTcpTable(line);
    expect(closed).toMatchObject({ localPort: 0xb26d, uid: undefined });
    expect(closed && isTrusted(closed)).toBe(false);
  });

  test("have the sockets of this process, both ends of a connection", async () => {
    const server = createServer();
    await listenLocally(server);
    const port = Number(localAddress(server).split(":")[1]);
    closings.push(() => server.close());
    expect(await isOwnListener(port)).toBe(true);
    const socket = connect(port, "127.0.0.1");
    closings.push(() => socket.destroy());
    await once(socket, "connect");
    const end = otherEnd(socket, await tcpSockets());
    expect(end).toMatchObject({ localPort: port, remotePort: socket.localPort, listens: false });
    expect(end && isTrusted(end)).toBe(true);
  });

  test.each(["127.0.0.1", "::1"])("tell who listens at %s from who is merely connected there", async (host) => {
    const server = createServer();
    server.listen(0, host);
    await once(server, "listening");
    const port = Number(localAddress(server).split(":").at(-1));
    const accepted = once(server, "connection");
    const socket = connect(port, host);
    closings.push(() => socket.destroy());
    const [other] = await accepted;
    closings.push(() => other.destroy());
    expect(await isOwnListener(port)).toBe(true);
    server.close();
    expect(await isOwnListener(port)).toBe(false);
  });
});
