import { createHmac } from "node:crypto";
import { createServer, type Server } from "node:net";
import { afterEach, describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import {
  hostsUpdatedRequest,
  notify,
  readNotificationService,
} from "../../../src/frameworks/elastic-horovod/notification.ts";
import { listenLocally, localAddress } from "../../support/local-port.ts";

/** What Python 3.11 makes of `({'lo': [('127.0.0.1', 41877)], 'eth0': [('10.0.0.5', 41877), ('10.0.0.6', 41877)]}, bytes(range(32)))`. */
const announced =
  "gAWVbgAAAAAAAAB9lCiMAmxvlF2UjAkxMjcuMC4wLjGUTZWjhpRhjARldGgwlF2UKIwIMTAuMC4wLjWUTZWjhpSMCDEwLjAuMC42lE2Vo4aUZXVDIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4flIaULg==";
const secret = Buffer.from(Array.from({ length: 32 }, (_, index) => index));

describe("what a process of Horovod says of its service", () => {
  test("is its port and its secret", () => {
    expect(readNotificationService(announced)).toEqual({ port: 41_877, secret });
  });

  test("is refused where it names code: Python's os.system", () => {
    const harmful = Buffer.from("\x80\x04cos\nsystem\n(X\x04\0\0\0truetR.", "latin1").toString("base64");
    expect(() => readNotificationService(harmful)).toThrow("a pickle with opcode 99");
  });

  test("is refused where it is cut short, empty, or of several services", () => {
    expect(() => readNotificationService(announced.slice(0, 100))).toThrow("cut short");
    expect(() => readNotificationService("")).toThrow("cut short");
    const two = Buffer.from("\x80\x04K\x05K\x06.", "latin1").toString("base64");
    expect(() => readNotificationService(two)).toThrow("one service");
  });

  test("is refused or read, whatever it is, and never anything else", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        const base64 = Buffer.from(bytes).toString("base64");
        const outcome = outcomeOf(() => readNotificationService(base64).secret.length);
        expect(outcome === 32 || outcome instanceof RangeError).toBe(true);
      }),
    );
  });
});

function outcomeOf(attempt: () => unknown): unknown {
  try {
    return attempt();
  } catch (error) {
    return error;
  }
}

describe("the news that others wait", () => {
  const servers: Server[] = [];
  afterEach(() => {
    for (const server of servers.splice(0)) server.close();
  });

  /** A service that answers what it receives, or nothing. */
  async function service(answer: string): Promise<{ readonly port: number; readonly received: () => Buffer }> {
    let received: Buffer = Buffer.alloc(0);
    const server = createServer((socket) => {
      socket.once("data", (data: Buffer) => {
        received = data;
        socket.end(answer);
      });
    });
    servers.push(server);
    await listenLocally(server);
    return { port: Number(localAddress(server).split(":")[1]), received: () => received };
  }

  test("is a request that Python reads: HostsUpdatedRequest with timestamp 7 and res 2", () => {
    expect(hostsUpdatedRequest(7).toString("base64")).toBe(
      "gAJjaG9yb3ZvZC5ydW5uZXIuZWxhc3RpYy53b3JrZXIKSG9zdHNVcGRhdGVkUmVxdWVzdAopgX0oWAkAAAB0aW1lc3RhbXBKBwAAAFgDAAAAcmVzSgIAAAB1Yi4=",
    );
  });

  test("is sent behind its digest by the service's secret and its length", async () => {
    const { port, received } = await service("an answer");
    expect(await notify({ port, secret }, 7, 5000)).toBe(true);
    const message = hostsUpdatedRequest(7);
    expect(received().subarray(0, 32)).toEqual(createHmac("sha256", secret).update(message).digest());
    expect(received().readInt32LE(32)).toBe(message.length);
    expect(received().subarray(36)).toEqual(message);
  });

  test("has not arrived where nobody answers or listens", async () => {
    const { port } = await service("");
    expect(await notify({ port, secret }, 1, 5000)).toBe(false);
    expect(await notify({ port: 1, secret }, 1, 5000)).toBe(false);
  });
});
