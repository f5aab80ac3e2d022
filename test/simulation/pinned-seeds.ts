export interface PinnedSeed {
  readonly seed: number;
  /** Whether the seed is lived as a search. */
  readonly searches?: boolean;
  /** The names of the faults that strike, instead of those that the seed would choose. */
  readonly faults?: readonly string[];
  readonly lives: string;
  /** Events of the ApplicationMaster's log that show this life, in this order. */
  readonly logs: readonly string[];
}

/**
 * Lives that are run every time because similar ones once found a fault of ours. What a seed lives follows from the whole model: if a
 * change of the model turns it into another life, the check of what the log must show fails.
 */
export const PINNED_SEEDS: readonly PinnedSeed[] = [
  {
    seed: 2867,
    lives: "a task that restarts alone is silent, then refused by two nodes: three failures of machines end the job",
    logs: ["task-lost", "task-restart", "launch-failed", "launch-failed", "outcome-decided"],
  },
  {
    seed: 3222,
    lives: "its user stops the job",
    logs: ["generation-running", "outcome-decided", "task-ended"],
  },
  {
    seed: 359,
    faults: ["the ApplicationMaster is paused, replaced, and goes on", "the journal cannot be written"],
    lives: "all programs end while the next attempt cannot read its journal, and the one before goes on after a pause",
    logs: ["paused", "recovered", "task-ended", "outcome-decided", "attempt-over"],
  },
  {
    seed: 22947,
    lives: "a job that its user stopped ends under its third attempt, after a long outage of the ResourceManager",
    logs: ["outcome-decided", "paused", "attempt-over", "recovered"],
  },
  {
    seed: 96118,
    lives: "executors lose the attempt that they obey when the next one's address has failed them, and find the third",
    logs: ["paused", "attempt-over", "recovered", "outcome-decided"],
  },
  {
    seed: 202387,
    lives:
      "the chief of a stage ends well while its stage restarts: the parameter server that waited for it starts alone",
    logs: ["task-failed", "generation-restart", "stage-done", "generation-opened", "task-started", "outcome-decided"],
  },
  {
    seed: 300039,
    lives: "the gang restarts while executors still look for a new attempt, and has them all again",
    logs: ["recovered", "generation-restart", "generation-running", "outcome-decided"],
  },
  {
    seed: 401155,
    lives: "an attempt on a machine whose clock is minutes off takes the programs over, and none is disturbed",
    logs: ["generation-running", "recovered", "outcome-decided"],
  },
  {
    seed: 600650,
    lives: "an executor freezes while its ApplicationMaster stands still, which reads its last words as it goes on",
    logs: ["paused", "task-failed", "generation-restart", "task-lost", "verdict", "outcome-decided"],
  },
  {
    seed: 2800050807,
    lives:
      "an outcome is carried out that the journal never held; the next attempt starts again what was stopped, for nothing",
    logs: ["outcome-decided", "journal-failed", "recovered", "task-restart", "outcome-decided"],
  },
  {
    seed: 5_516_564,
    lives:
      "a trial pauses before it is known what its programs ended of, and was not started again for that when it goes on",
    logs: ["recovered", "trial-paused", "trial-promoted", "generation-running", "outcome-decided"],
  },
  {
    seed: 96,
    searches: true,
    lives: "a container of a trial is taken, and what its peers fail of then costs the trial nothing",
    logs: ["generation-running", "task-failed", "generation-restart", "generation-running", "outcome-decided"],
  },
  {
    seed: 31_001_484,
    searches: true,
    lives: "machines fail the one task of a trial until the job cannot go on, which ends the search",
    logs: ["task-lost", "verdict", "outcome-decided"],
  },
  {
    seed: 32_005_744,
    searches: true,
    lives: "a parameter server loses its peers for the third time, and its trial fails though both workers then exit 0",
    logs: ["generation-restart", "generation-restart", "task-failed", "verdict", "outcome-decided"],
  },
  {
    seed: 44_003_351,
    searches: true,
    lives:
      "the executor of a trial that is over was told of a generation that the journal does not know: nothing starts there",
    logs: ["generation-restart", "recovered", "stage-done", "outcome-decided"],
  },
  {
    seed: 47_009_052,
    searches: true,
    lives:
      "an attempt that finds no journal begins the search again, and trials that are not begun are as in any search",
    logs: ["recovery-impossible", "outcome-decided"],
  },
  {
    seed: 530_008_749,
    searches: true,
    lives:
      "a trial fails as a container in which nothing had started runs out of memory, while what ended its generation before is still judged",
    logs: ["task-failed", "generation-restart", "container-replaced", "stage-done", "outcome-decided"],
  },
  {
    seed: 46_000_552,
    searches: true,
    lives: "four trials that each miss their last container do not wait for one another for ever",
    logs: ["containers-asked", "gang-returned", "generation-running", "outcome-decided"],
  },
  {
    seed: 420_039_855,
    searches: true,
    lives:
      "a trial that ended by itself before the journal knew of its pause, and goes on, does not pause for that once more",
    logs: ["paused", "stage-done", "trial-promoted", "trial-paused", "outcome-decided"],
  },
  {
    seed: 870_009_370,
    lives:
      "an executor that gave up as the ApplicationMaster went on after a pause is back, and its node is not blamed",
    logs: ["paused", "task-registered", "generation-running", "outcome-decided"],
  },
];
