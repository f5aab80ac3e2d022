import type { ExecutorLinks } from "../../am/executors/executor-links.ts";
import type { ExecutorLink, LinkEnd } from "../../src/api/executor-endpoint.ts";
import { type MasterCommand, type MasterMessage, PROTOCOL_VERSION } from "../../src/api/messages.ts";
import type { ExecutorRegistration } from "../../src/job/execution.ts";
import type { ExecutorModel } from "./executor-model.ts";
import type { Master } from "./master.ts";
import { isLost } from "./node.ts";
import type { World } from "./world.ts";

const LONGEST_WAY_MS = 50;
/** Where the network loses the end of a stream, it is sent again after this time. */
const END_SENT_AGAIN_MS = 1_000;

/**
 * An executor's stream to one attempt of the ApplicationMaster. The order is kept in each direction; what is under way when the stream ends is
 * lost.
 */
export class Stream implements ExecutorLink {
  readonly build = "model";
  readonly task: string;
  readonly containerId: string;
  readonly master: Master;
  isOpen = true;
  readonly #world: World;
  readonly #executor: ExecutorModel;
  readonly #heard: (message: MasterMessage) => void;
  readonly #ended: () => void;
  /** Whether its executor has closed it, or knows that it is over. */
  #isDropped = false;
  #isKnown = false;
  #inwardMs = 0;
  #outwardMs = 0;

  /** @param ended called when the ApplicationMaster has closed the stream, after what it sent before */
  constructor(
    world: World,
    executor: ExecutorModel,
    master: Master,
    heard: (message: MasterMessage) => void,
    ended: () => void,
  ) {
    this.#world = world;
    this.#executor = executor;
    this.master = master;
    this.#heard = heard;
    this.#ended = ended;
    this.task = executor.task;
    this.containerId = executor.containerId;
  }

  send(generation: number, command: MasterCommand): void {
    if (!this.isOpen) {
      return;
    }
    const { clock, random } = this.#world;
    const message: MasterMessage = { attempt: this.master.attempt, generation, body: command };
    this.#inwardMs = Math.max(this.#inwardMs, clock.nowMs + random.integer(1, LONGEST_WAY_MS));
    clock.after(this.#inwardMs - clock.nowMs, () => {
      if (!this.#isDropped && !this.#isLost("inward")) {
        this.#heard(message);
      }
    });
  }

  /** The first registration of a stream opens it. */
  register(links: ExecutorLinks, registration: ExecutorRegistration): void {
    if (this.#isKnown) {
      links.registered(this, registration);
    } else {
      this.#isKnown = true;
      this.master.takes(this);
      this.send(0, this.#welcome);
      links.connected(this, registration);
    }
  }

  /** Carries what the executor says. */
  say(hear: (links: ExecutorLinks) => void): void {
    const { clock, random } = this.#world;
    this.#outwardMs = Math.max(this.#outwardMs, clock.nowMs + random.integer(1, LONGEST_WAY_MS));
    clock.after(this.#outwardMs - clock.nowMs, () => this.#arrive(hear));
  }

  /** Carries the same once more, much later. */
  sayAgain(hear: (links: ExecutorLinks) => void): void {
    this.#world.clock.after(this.#world.random.integer(50, 500), () => this.#arrive(hear));
  }

  /** For heartbeats: there are too many of them to simulate each one's way. */
  sayAtOnce(hear: (links: ExecutorLinks) => void): void {
    if (this.#isKnown) {
      this.#arrive(hear);
    }
  }

  /** The stream ends, and the ApplicationMaster notices. */
  end(how: LinkEnd): void {
    this.#isDropped = true;
    if (this.isOpen) {
      this.isOpen = false;
      if (this.#isKnown) {
        this.master.process.reach(() => this.master.links.disconnected(this, how));
      }
    }
  }

  /** The executor closes the stream, and the ApplicationMaster does not hear of that. */
  drop(): void {
    this.#isDropped = true;
    this.isOpen = false;
  }

  /** The ApplicationMaster closes the stream. */
  close(): void {
    this.isOpen = false;
    this.#tellOfEnd(Math.max(1, this.#inwardMs - this.#world.clock.nowMs));
  }

  /** The executor hears of the end as soon as the network allows. */
  #tellOfEnd(afterMs: number): void {
    this.#world.clock.after(afterMs, () => {
      if (this.#isDropped) {
        return;
      }
      if (this.#isLost("inward")) {
        this.#tellOfEnd(END_SENT_AGAIN_MS);
        return;
      }
      this.#isDropped = true;
      this.#ended();
    });
  }

  get #welcome(): MasterCommand {
    const { heartbeatIntervalMs } = this.#world.spec.timeouts;
    const none = new Uint8Array(0);
    const hello = { protocol: PROTOCOL_VERSION, build: this.build };
    return { type: "welcome", hello, heartbeatIntervalMs, job: none, attemptProof: none };
  }

  #isLost(direction: "inward" | "outward"): boolean {
    return isLost(this.#executor.container.node, direction, this.master.attempt);
  }

  #arrive(hear: (links: ExecutorLinks) => void): void {
    if (this.isOpen && !this.#isLost("outward")) {
      this.master.process.reach(() => hear(this.master.links));
    }
  }
}
