import { isSnapshot } from "../../am/core/journal/journal.ts";
import { Master } from "./master.ts";
import type { World } from "./world.ts";

/** The attempts of the ApplicationMaster, one after another: how they end, and what YARN does then. */
export class Attempts {
  /** The attempt that was started last. */
  present: Master;
  /** The job has ended: no further attempt follows. */
  areOver = false;
  /** YARN has ended the application because all its attempts are used up. */
  areUsedUp = false;
  /** How many attempts ended that should not have ended. */
  surrenders = 0;
  /**
   * How many ends YARN reported of containers that the journal still counts as the job's. Nobody reports them to the next
   * attempt again.
   */
  lostWords = 0;
  /** How many executors no call of the next attempt reached. */
  vainCalls = 0;
  readonly #all = new Map<number, Master>();
  readonly #world: World;
  /** How many attempts YARN grants. */
  readonly #granted: number;

  constructor(world: World, granted: number) {
    this.#world = world;
    this.#granted = granted;
    this.present = this.#next();
  }

  find(attempt: number): Master | undefined {
    return this.#all.get(attempt);
  }

  /** The attempt dies. YARN starts another one some seconds later and keeps the containers that run. */
  crash(): void {
    if (!this.#mayEnd(this.present)) {
      return;
    }
    this.#world.trace("! ApplicationMaster dies");
    this.present.process.kill();
    this.#replaceDead();
  }

  /** The attempt stands still for longer than YARN waits, and goes on beside the one that was started in its place. */
  pauseBeyondExpiry(): void {
    const { random, clock, executors } = this.#world;
    const master = this.present;
    const expiryMs = random.integer(10_000, 15_000);
    master.pause(expiryMs + random.integer(0, 20_000), random.integer(0, 30_000));
    clock.after(expiryMs, () => {
      if (!this.#mayEnd(master)) {
        return;
      }
      for (const executor of executors.values()) {
        clock.after(random.integer(2_000, 30_000), () => executor.connection.masterGone(master));
      }
      this.#replace(random.integer(500, 2_000));
    });
  }

  /**
   * The network between the attempt and everything else is cut; if that lasts, another attempt is started in its place.
   */
  cutOff(durationMs: number): void {
    const { clock, random, masterExpiryMs } = this.#world;
    const master = this.present;
    master.isCutOff = true;
    clock.after(durationMs, () => {
      master.isCutOff = false;
    });
    clock.after(masterExpiryMs, () => {
      if (master.isCutOff && this.#mayEnd(master)) {
        this.#replace(random.integer(500, 2_000));
      }
    });
  }

  /** The attempt's process has ended by itself. */
  exited(master: Master, cleanStaging: boolean): void {
    const { resourceManager, application, problems } = this.#world;
    if (cleanStaging && !resourceManager.hasEnd) {
      problems.push("the staging folder is removed before the ResourceManager has taken the end");
    }
    if (!master.isPresent) {
      for (const executor of this.#world.executors.values()) {
        executor.connection.masterGone(master);
      }
      return;
    }
    if (application.finished) {
      this.areOver = true;
    } else {
      this.surrenders++;
      this.#replaceDead();
    }
  }

  /** What the next attempt reads from the journal. */
  readJournal(): unknown {
    const { journal, application, applicationId } = this.#world;
    const snapshot = journal.read();
    if (isSnapshot(snapshot, applicationId)) {
      const held = Object.values(snapshot.containers).filter(
        ({ phase }) => phase === "held" || phase === "terminating",
      );
      this.lostWords += held.filter(({ id }) => application.settled.has(id)).length;
    } else {
      this.#world.beginAgain();
    }
    return snapshot;
  }

  #mayEnd(master: Master): boolean {
    return !this.areOver && !this.#world.application.finished && master.process.alive && master.isPresent;
  }

  #replaceDead(): void {
    const { executors, random } = this.#world;
    for (const executor of executors.values()) {
      executor.connection.masterGone(this.present);
    }
    this.#replace(random.integer(1_000, 10_000));
  }

  #replace(delayMs: number): void {
    const { resourceManager, application, clock } = this.#world;
    if (resourceManager.attempt >= this.#granted) {
      this.#world.trace("! YARN ends the application: its attempts are used up");
      this.areUsedUp = true;
      this.areOver = true;
      application.finish();
      return;
    }
    resourceManager.nextAttempt();
    clock.after(delayMs, () => {
      this.present = this.#next();
      this.present.start();
    });
  }

  #next(): Master {
    const { weather, random, resourceManager } = this.#world;
    const { skewMs } = weather;
    const { attempt } = resourceManager;
    const master = new Master(this.#world, attempt, skewMs === 0 ? 0 : random.integer(-skewMs, skewMs));
    this.#all.set(attempt, master);
    return master;
  }
}
