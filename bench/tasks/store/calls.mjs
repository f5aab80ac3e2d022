// A task that measures its calls of the key-value store and prints what they took as a line of JSON. It writes to and reads from its socket
// itself, because Node's HTTP client takes as long for a call as the executor does.
import { connect } from "node:net";

const api = process.env.TONY_API ?? "";
const CALLS = 2_000;
const CROWD_CALLS = 20_000;
const CROWD = 32;

/** One connection, with one call at a time. */
class Connection {
  #socket = connect(api);
  #said = "";
  /** @type {(body: any) => void} */
  #told = () => {};

  constructor() {
    this.#socket.setEncoding("utf8").on("data", (text) => {
      this.#said += text;
      const head = this.#said.indexOf("\r\n\r\n");
      const [, length] = /content-length: (\d+)/i.exec(this.#said.slice(0, head)) ?? [];
      if (length === undefined || this.#said.length < head + 4 + Number(length)) return;
      const body = this.#said.slice(head + 4);
      this.#said = "";
      this.#told(JSON.parse(body));
    });
  }

  /** @param {string} method @param {string} path @returns {Promise<any>} */
  call(method, path, body = "") {
    this.#socket.write(`${method} ${path} HTTP/1.1\r\nhost: tony\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
    return new Promise((resolve) => {
      this.#told = resolve;
    });
  }

  /** @param {string} key @param {string} value */
  put(key, value) {
    return this.call("PUT", `/v1/kv/shared/${key}`, value);
  }
}

/** Notes when the change of each revision arrives. */
class Watch {
  /** @type {Map<number, number>} */
  #times = new Map();
  #come = () => {};

  /** @param {string} key @param {{ attempt: number, revision: number }} behind */
  constructor(key, { attempt, revision }) {
    const socket = connect(api).setEncoding("utf8");
    const path = `/v1/kv/shared/${key}?watch=true&attempt=${attempt}&revision=${revision}`;
    socket.write(`GET ${path} HTTP/1.1\r\nhost: tony\r\n\r\n`);
    socket.on("data", (text) => {
      const now = performance.now();
      for (const [, come] of `${text}`.matchAll(/"revision":(\d+),"changes":\[\{/g)) this.#times.set(Number(come), now);
      this.#come();
    });
  }

  /** @param {number} revision @returns {Promise<number>} */
  async when(revision) {
    const time = this.#times.get(revision);
    if (time !== undefined) return time;
    await new Promise((resolve) => {
      this.#come = () => resolve(undefined);
    });
    return await this.when(revision);
  }
}

/** @param {number[]} values */
const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];

/** @param {Connection} connection */
async function puts(connection) {
  const took = [];
  for (let call = 0; call < CALLS; call += 1) {
    const began = performance.now();
    await connection.put("one", `${call}`);
    took.push(performance.now() - began);
  }
  return median(took);
}

/** The time from before the put until the change arrives. @param {Connection} connection */
async function watched(connection) {
  const { attempt } = await connection.call("GET", "/v1/task");
  const { revision } = await connection.put("watched", "");
  const watch = new Watch("watched", { attempt, revision });
  const took = [];
  for (let call = 0; call < CALLS; call += 1) {
    const began = performance.now();
    const put = await connection.put("watched", `${call}`);
    took.push((await watch.when(put.revision)) - began);
  }
  return median(took);
}

async function crowd() {
  const began = performance.now();
  let next = 0;
  const write = async (/** @type {Connection} */ connection) => {
    for (let call = next++; call < CROWD_CALLS; call = next++) await connection.put(`many-${call % 100}`, `${call}`);
  };
  await Promise.all(Array.from({ length: CROWD }, () => write(new Connection())));
  return (CROWD_CALLS * 1_000) / (performance.now() - began);
}

const connection = new Connection();
// V8 has not yet compiled the functions that the first thousands of calls use.
for (let round = 0; round < 2; round += 1) await puts(connection);
console.log(
  JSON.stringify({ putMs: await puts(connection), watchedMs: await watched(connection), putsPerSecond: await crowd() }),
);
process.exit(0);
