import { beforeEach, describe, expect, it } from "@jest/globals";
import { Isolation } from "../../executor/isolation.ts";
import { silentLog } from "../support/silent-log.ts";

/** A generation whose program runs, or is suspended. */
class RunningGeneration {
  isSuspended = false;
  isSuspensionKnown = false;

  suspend(): boolean {
    this.isSuspended = true;
    return true;
  }

  resume(): boolean {
    const wasSuspended = this.isSuspended;
    this.isSuspended = false;
    return wasSuspended;
  }

  suspensionKnown(): void {
    this.isSuspensionKnown = true;
  }
}

describe("an executor that reaches nobody", () => {
  let current: RunningGeneration;
  let previous: RunningGeneration;
  let isolation: Isolation;

  beforeEach(() => {
    current = new RunningGeneration();
    previous = new RunningGeneration();
    isolation = new Isolation({ log: silentLog, generations: { current, previous } });
    isolation.begin(30_400);
  });

  it("suspends its program, and the one that may still be stopping, and brings nothing up", () => {
    expect([current.isSuspended, previous.isSuspended, isolation.gate.isClosed]).toEqual([true, true, true]);
  });

  it("suspends a program that is started meanwhile", () => {
    const next = new RunningGeneration();
    isolation.started(next);
    expect(next.isSuspended).toBe(true);
  });

  it("brings files up again at the first order, and leaves the program to an order of its own", () => {
    isolation.ordered();
    expect([isolation.gate.isClosed, current.isSuspended]).toEqual([false, true]);
  });

  it("goes on when the journal allows it, and the ApplicationMaster is still to hear how long it was suspended", () => {
    isolation.allowedByJournal();
    expect([isolation.gate.isClosed, current.isSuspended, current.isSuspensionKnown]).toEqual([false, false, false]);
  });

  it("goes on when the ApplicationMaster, which has heard of the suspension, wants it", () => {
    isolation.allowedByMaster();
    expect([isolation.gate.isClosed, current.isSuspended, current.isSuspensionKnown]).toEqual([false, false, true]);
  });

  it("suspends nothing that is started after that", () => {
    isolation.allowedByMaster();
    const next = new RunningGeneration();
    isolation.started(next);
    expect(next.isSuspended).toBe(false);
  });
});
