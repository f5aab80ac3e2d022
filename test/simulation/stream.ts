import type { ExecutorLinks } from "../../am/executors/executor-links.ts";
import type { ExecutorLink, LinkEnd } from "../../src/api/executor-endpoint.ts";
import type { MasterCommand, MasterMessage } from "../../src/api/messages.ts";
import type { ExecutorRegistration } from "../../src/job/execution.ts";
import type { ExecutorModel } from "./executor-model.ts";
import type { Master } from "./master.ts";
import { isLost } from "./node.ts";
import type { World } from "./world.ts";

const LONGEST_WAY_MS = 50;

/** An executor's stream to one attempt of the ApplicationMaster. The order is kept in each direction; what is under way when it ends is lost. */
export class Stream implements ExecutorLink {
  readonly build = "model";
  readonly task: string;
  readonly containerId: string;
  readonly master: Master;
  isOpen = true;
  readonly #world: World;
  readonly #executor: ExecutorModel;
  #isKnown = false;
  #inwardMs = 0;
  #outwardMs = 0;

  constructor(world: World, executor: ExecutorModel) {
    this.#world = world;
    this.#executor = executor;
    this.master = world.master;
    this.task = executor.task;
    this.containerId = executor.containerId;
  }

  send(generation: number, command: MasterCommand): void {
    const { clock, random } = this.#world;
    const message: MasterMessage = { attempt: this.master.attempt, generation, body: command };
    this.#inwardMs = Math.max(this.#inwardMs, clock.nowMs + random.integer(1, LONGEST_WAY_MS));
    clock.after(this.#inwardMs - clock.nowMs, () => {
      if (this.isOpen && !this.#isLost("inward")) {
        this.#executor.receive(message);
      }
    });
  }

  /** The first registration of a stream opens it. */
  register(links: ExecutorLinks, registration: ExecutorRegistration): void {
    if (this.#isKnown) {
      links.registered(this, registration);
    } else {
      this.#isKnown = true;
      links.connected(this, registration);
    }
  }

  /** What the executor says. */
  say(hear: (links: ExecutorLinks) => void): void {
    const { clock, random } = this.#world;
    this.#outwardMs = Math.max(this.#outwardMs, clock.nowMs + random.integer(1, LONGEST_WAY_MS));
    clock.after(this.#outwardMs - clock.nowMs, () => this.#arrive(hear));
  }

  /** The same once more, much later. */
  sayAgain(hear: (links: ExecutorLinks) => void): void {
    this.#world.clock.after(this.#world.random.integer(50, 500), () => this.#arrive(hear));
  }

  /** Heartbeats: there are too many of them for a way of their own. */
  sayAtOnce(hear: (links: ExecutorLinks) => void): void {
    if (this.#isKnown) {
      this.#arrive(hear);
    }
  }

  /** The ApplicationMaster notices. */
  end(how: LinkEnd): void {
    if (this.isOpen) {
      this.isOpen = false;
      this.master.process.reach(() => this.master.links.disconnected(this, how));
    }
  }

  close(): void {
    this.isOpen = false;
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
