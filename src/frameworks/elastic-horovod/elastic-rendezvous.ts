import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { callAfter } from "../../hadoop/clock.ts";
import { errorMessage } from "../../hadoop/errors.ts";
import { bodyRoom, boundedBody, rendezvousStore, scopeSizes } from "../rendezvous-store.ts";
import { Meeting, type Round, type Slot, type TaskProcess } from "./meeting.ts";
import { type NotificationService, notify, readNotificationService } from "./notification.ts";
import { SlotWords } from "./prelude.ts";

/** Why a process gets no slot. */
type Refusal = "too few" | "too late" | "unknown";

export interface ElasticRendezvousOptions {
  /** The role that trains. */
  readonly role: string;
  /** How many tasks it has: the store is limited to what these need, and a task cannot speak for another. */
  readonly instances: number;
  /** Number of processes in each of its tasks. */
  readonly processes: number;
  /** With fewer tasks than this, nobody trains. */
  readonly least: number;
  /** The numbers of the tasks that start together. */
  readonly expected: readonly number[];
  readonly nowMs: () => number;
}

/** How long the first processes wait for one that was to start with them: it may be restoring a checkpoint. */
const PATIENCE_MS = 30_000;
/** How long too few processes wait for more: a container may take that long. */
const ENOUGH_MS = 3_600_000;
/** How often training processes are told that others wait: they only listen at certain points. */
const NOTICE_EVERY_MS = 5_000;
/** A machine that disappears silently is noticed after this time and ten probes, a second apart (libuv, uv_tcp_keepalive). */
const KEEP_ALIVE_MS = 5_000;
/** Why a process gets no slot when the others have finished. */
export const OTHERS_DONE = "the others are done";
/** The answer that makes a process exit: it has been removed from the job (horovod/common/gloo/gloo_context.cc). */
const NO_SLOT = "-1,-1,-1,-1,-1,-1";
/** The largest announcement of a notification service: with many network interfaces. */
export const MOST_ANNOUNCEMENT_BYTES = 1 << 20;

/**
 * The rendezvous of Horovod's processes when tasks come and go, served next to the first of them. Over HTTP:
 *
 *     GET /slot/<host>:<process>               our prelude: answered when there is a slot, open as long as the process lives
 *     DELETE /slot/<host>:<process>            the process has succeeded
 *     GET /rank_and_size/<host>:<process>      Horovod's process that meets the others again: answered when there is a slot
 *     PUT /worker_addresses/<host>:<process>   Horovod's process: where it can be told that others wait
 *     all else                                 the store of one round (rendezvous-store.ts)
 *
 * The last three are those of horovod/runner/elastic/rendezvous.py. A host is a task, `worker-3`.
 */
export function elasticRendezvous(options: ElasticRendezvousOptions): RequestListener {
  const rendezvous = new ElasticRendezvous(options);
  return (request, response) => void rendezvous.answer(request, response).catch(() => response.destroy());
}

class ElasticRendezvous {
  readonly #options: ElasticRendezvousOptions;
  readonly #meeting: Meeting;
  /** By process: the connection that stays open for its whole life, and the response that it waits for. */
  readonly #lives = new Map<string, ServerResponse>();
  readonly #waiting = new Map<string, (answer: Slot | Refusal) => void>();
  #store: RequestListener = rendezvousStore(new Map());
  readonly #room = bodyRoom();
  #service: NotificationService | undefined;
  #notices = 0;
  #noticeDueMs = 0;
  #cancelLook: () => void = () => undefined;

  constructor(options: ElasticRendezvousOptions) {
    const { processes, least, expected } = options;
    this.#options = options;
    this.#meeting = new Meeting({ processes, least, expected, patienceMs: PATIENCE_MS, enoughMs: ENOUGH_MS });
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, scope, key = ""] = (request.url ?? "").split("/");
    const route = `${request.method} ${scope}`;
    const asker = processOf(key, this.#options);
    if (asker === undefined) this.#store(request, response);
    else if (route === "GET slot") this.#join(asker, key, response);
    else if (route === "DELETE slot") this.#done(response);
    else if (route === "GET rank_and_size") this.#askAgain(asker, key, response);
    else if (route === "PUT worker_addresses") await this.#announce(asker, request, response);
    else this.#store(request, response);
  }

  #join(asker: TaskProcess, key: string, response: ServerResponse): void {
    this.#lives.get(key)?.destroy();
    this.#lives.set(key, response);
    response.socket?.setKeepAlive(true, KEEP_ALIVE_MS);
    response.once("close", () => {
      // Its next life may have begun before the end of this one was noticed.
      if (this.#lives.get(key) !== response) return;
      this.#lives.delete(key);
      this.#waiting.delete(key);
      this.#meeting.leave(asker);
      this.#look();
    });
    this.#waiting.set(key, (answer) => {
      if (typeof answer === "string") response.end(`${SlotWords.none} ${this.#words(answer)}\n`);
      else response.write(`${SlotWords.slot} ${slotNumbers(answer).join(" ")}\n`);
    });
    this.#meeting.join(asker, this.#options.nowMs());
    this.#look();
  }

  #done(response: ServerResponse): void {
    this.#meeting.done();
    response.end();
    this.#look();
  }

  #askAgain(asker: TaskProcess, key: string, response: ServerResponse): void {
    const answer = (slot: Slot | Refusal) =>
      sendText(response, typeof slot === "string" ? NO_SLOT : slotNumbers(slot).join(","));
    if (this.#meeting.ask(asker)) {
      this.#waiting.set(key, answer);
      this.#look();
    } else answer("unknown");
  }

  /** Only rank 0 is told that others wait: it tells the other ranks (horovod/common/elastic.py, State#check_host_updates). */
  async #announce(asker: TaskProcess, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const announced = await boundedBody(request, MOST_ANNOUNCEMENT_BYTES, this.#room);
    if (announced === "too long") return sendText(response, announced, 413);
    if (announced === "no room") return sendText(response, announced, 507);
    try {
      if (asker.task === 0 && asker.process === 0) this.#service = readNotificationService(announced.toString("utf8"));
    } catch (error) {
      return sendText(response, errorMessage(error), 400);
    }
    sendText(response, "");
    this.#look();
  }

  /** Called after an event or when a deadline passes: answers everybody who can be answered. */
  #look(): void {
    const round = this.#meeting.close(this.#options.nowMs());
    if (round !== undefined) this.#begin(round);
    this.#answer(({ task }) => (this.#meeting.isTooLate(task) ? "too late" : undefined));
    this.#tellOfWaiting();
    this.#lookAgain();
  }

  #begin(round: Round): void {
    this.#noticeDueMs = 0;
    const { role, processes } = this.#options;
    const hosts = round.type === "met" ? round.tasks.map((task) => hostOf(role, task)) : [];
    this.#store = rendezvousStore(scopeSizes(new Map(hosts.map((host) => [host, processes]))));
    this.#answer((asker) => (round.type === "met" ? round.slotOf(asker) : "too few"));
  }

  #answer(answerTo: (asker: TaskProcess) => Slot | Refusal | undefined): void {
    for (const [key, waiting] of [...this.#waiting]) {
      const asker = processOf(key, this.#options);
      const answer = asker === undefined ? "unknown" : answerTo(asker);
      if (answer === undefined) continue;
      this.#waiting.delete(key);
      waiting(answer);
    }
  }

  #tellOfWaiting(): void {
    const nowMs = this.#options.nowMs();
    if (!this.#meeting.isAwaited || this.#service === undefined || nowMs < this.#noticeDueMs) return;
    this.#noticeDueMs = nowMs + NOTICE_EVERY_MS;
    this.#notices += 1;
    // A notice that was not received is repeated.
    void notify(this.#service, this.#notices, NOTICE_EVERY_MS);
  }

  #lookAgain(): void {
    this.#cancelLook();
    const noticeDueMs = this.#meeting.isAwaited ? this.#noticeDueMs : undefined;
    const nowMs = this.#options.nowMs();
    const due = [this.#meeting.dueMs, noticeDueMs].filter((one) => one !== undefined).filter((one) => one > nowMs);
    if (due.length === 0 || this.#lives.size === 0) return;
    this.#cancelLook = callAfter(Math.min(...due) - nowMs, () => this.#look());
  }

  #words(refusal: Refusal): string {
    return refusal === "too few"
      ? `fewer than ${this.#options.least} tasks have come together in an hour`
      : OTHERS_DONE;
  }
}

/** The host name that Horovod's processes see for a task: each task is a host of its own. */
export function hostOf(role: string, task: number): string {
  return `${role}-${task}`;
}

function processOf(key: string, { role, instances, processes }: ElasticRendezvousOptions): TaskProcess | undefined {
  const [, task, process] =
    /^(\d{1,6}):(\d{1,4})$/.exec(key.startsWith(`${role}-`) ? key.slice(role.length + 1) : "") ?? [];
  const asker = { task: Number(task), process: Number(process) };
  return asker.task < instances && asker.process < processes ? asker : undefined;
}

/** In the order of SlotInfo#to_response_string. */
function slotNumbers({ rank, size, localRank, localSize, crossRank, crossSize }: Slot): readonly number[] {
  return [rank, size, localRank, localSize, crossRank, crossSize];
}

function sendText(response: ServerResponse, body: string, status = 200): void {
  if (!response.req.complete) response.shouldKeepAlive = false;
  response.writeHead(status, { "Content-Length": Buffer.byteLength(body) }).end(body);
}
