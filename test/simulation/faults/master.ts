import { type Fault, victim } from "./fault.ts";

/** Faults of the ApplicationMaster. */
export const MASTER_FAULTS: readonly Fault[] = [
  {
    name: "the ApplicationMaster is paused",
    deafens: true,
    halts: true,
    strike: (world) => world.master.pause(world.random.integer(1_000, 60_000)),
  },
  {
    name: "the ApplicationMaster is paused, replaced, and goes on",
    deafens: true,
    recovers: true,
    strike: (world) => world.attempts.pauseBeyondExpiry(),
  },
  {
    name: "the ApplicationMaster dies",
    deafens: true,
    recovers: true,
    strike: (world) => world.attempts.crash(),
  },
  {
    name: "the ApplicationMaster dies during a restart",
    deafens: true,
    class: "program",
    recovers: true,
    strike: (world) => {
      victim(world)?.endChild({ signal: "SIGKILL" });
      world.clock.after(world.random.integer(0, 8_000), () => world.attempts.crash());
    },
  },
];

export const CLIENT_STOPS: Fault = {
  name: "the client stops the job",
  ends: true,
  strike: (world) => world.deliver({ type: "stop-requested", reason: "stopped by alice" }),
};
