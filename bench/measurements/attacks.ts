import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { clientService } from "../../src/api/definition.ts";
import { clientAccess } from "../../src/api/identity.ts";
import { begunMessage, Growth, type Held, RawConnection } from "../../test/support/attacker.ts";
import { aJobSpec } from "../../test/support/job-spec.ts";
import { atMost, type Sample } from "../figures.ts";
import type { Measurement } from "../measurement.ts";
import { StandInMaster } from "../stand-in-master.ts";
import { until } from "../until.ts";

/** How often each attack is repeated, one time after the other. */
const rounds = 3;
const inARow = (name: string) => `AM: growth of one that all of these attack in a row, after ${name}`;
const twice = "AM: growth of one that all of these attack in a row, twice over";
/**
 * Connections are held this long. By then those that were kept waiting have been reset; one that has not proved a name
 * is reset after 10 s.
 */
const heldMs = 3_000;
const settleMs = 2_000;

interface Target {
  readonly address: string;
  /** The proof of a name that may see the job. */
  readonly viewer: Held;
}

type Attack = (target: Target) => Promise<void>;

const FOLLOW = clientService.follow.path;
const NOBODY: Held = { name: "owner", secret: Buffer.alloc(32) };

/** By the name under which each is shown. */
const attacks = {
  "64 connections without a right, 16 calls of 60 KB of headers on each": (target) =>
    overConnections(64, target, (connection) => {
      for (let call = 0; call < 16; call++) connection.call(FOLLOW, { ...NOBODY, name: "n".repeat(60_000) });
    }),
  "1,200 connections without a proof, 100 KB of a message on each": (target) =>
    overConnections(1_200, target, (connection) => connection.call(FOLLOW).write(begunMessage(256 << 10, 100_000))),
  "1,200 connections that say nothing once TLS stands": (target) => overConnections(1_200, target, () => undefined),
  "1,200 connections that begin TLS with 16 KB and do not go on": halfTls,
  "64 connections of who may see the job, 8 messages of 200 KB begun on each": (target) =>
    overConnections(64, target, (connection) => {
      for (let call = 0; call < 8; call++)
        connection.call(FOLLOW, target.viewer).write(begunMessage(256 << 10, 200_000));
    }),
  "64 connections without a right, 5,000 calls of no method on each": (target) =>
    overConnections(64, target, async (connection) => {
      for (let call = 0; call < 5_000 && !connection.isClosed; call++) {
        connection.call("/no/method");
        if (call % 500 === 0) await sleep(1);
      }
    }),
  "10,000 calls on a connection of who may see the job": (target) =>
    overConnections(1, target, async (connection) => {
      for (let call = 0; call < 10_000 && !connection.isClosed; call++) {
        connection.call(FOLLOW, target.viewer);
        if (call % 100 === 0) await sleep(1);
      }
    }),
  "64 connections of who may see the job, 1,000 calls on each at once": (target) =>
    overConnections(64, target, async (connection) => {
      connection.call(FOLLOW, target.viewer);
      await sleep(500);
      for (let call = 0; call < 1_000 && !connection.isClosed; call++) connection.call(FOLLOW, target.viewer);
    }),
} as const satisfies Record<string, Attack>;

/** Attacks an ApplicationMaster of the bench's own and measures by how much its resident size grows at most. */
export const attacked: Measurement = {
  name: "attacks",
  what: "how much an AM's memory grows by while it is attacked: in each way three times over, and in all ways in a row",
  warmUps: 0,
  figures: [
    ...Object.keys(attacks).map((name) => `AM: growth, ${name}`),
    ...Object.keys(attacks).map(inARow),
    twice,
  ].map((name) => ({ name, unit: "MiB", budget: atMost(16) })),
  async run(): Promise<Sample> {
    const sample: Record<string, number> = {};
    for (const [name, attack] of Object.entries(attacks)) {
      sample[`AM: growth, ${name}`] = last(await growths(Array.from({ length: rounds }, () => attack)));
    }
    const all = Object.values(attacks);
    const row = await growths([...all, ...all]);
    for (const [index, name] of Object.keys(attacks).entries()) sample[inARow(name)] = row[index] ?? 0;
    sample[twice] = last(row);
    return sample;
  },
};

const last = (growths: readonly number[]) => growths.at(-1) ?? 0;

/** The growth of one ApplicationMaster, after each attack: the most until then. */
async function growths(all: readonly Attack[]): Promise<readonly number[]> {
  const master = new StandInMaster(aJobSpec());
  try {
    const address = await until("the AM's address", () => master.address());
    await sleep(settleMs);
    const { caller } = clientAccess(master.identity);
    const grown = new Growth(master.pid);
    const most: number[] = [];
    for (const attack of all) {
      await attack({ address, viewer: caller });
      await sleep(settleMs);
      most.push(grown.most);
    }
    if (!master.alive) throw new Error(`the AM has ended:\n${master.words()}`);
    grown.end();
    return most;
  } finally {
    await master.dispose();
  }
}

/**
 * Opens all at once, and holds each until those that are refused have been. One that is still kept waiting by then is
 * left.
 */
async function overConnections(count: number, { address }: Target, use: (connection: RawConnection) => unknown) {
  const all = Array.from({ length: count }, async () => {
    const connection = await Promise.race([RawConnection.open(address).catch(() => undefined), sleep(heldMs)]);
    if (!(connection instanceof RawConnection)) return;
    await use(connection);
    await sleep(heldMs);
    connection.close();
  });
  await Promise.all(all);
}

async function halfTls({ address }: Target): Promise<void> {
  const { hostname, port } = new URL(`https://${address}`);
  const connections = Array.from({ length: 1_200 }, () => {
    const connection = connect(Number(port), hostname);
    // The head of a TLS record, and part of its body.
    connection.on("error", () => undefined).write(Buffer.from("16030140000100", "hex"));
    connection.write(Buffer.alloc(16_000));
    return connection;
  });
  await sleep(heldMs);
  for (const connection of connections) connection.destroy();
}
