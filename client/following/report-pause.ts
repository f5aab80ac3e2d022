const shortestMs = 100;
/** Pauses grow until a job has waited so long. */
const eagerForMs = 30_000;
const patientMs = 10_000;

/**
 * How long a client that waits leaves the ResourceManager alone: many people's jobs wait for hours, and each asks the same one. A job that
 * starts as most do is noticed within a twentieth of what it took.
 * @param waitedMs how long there has been nobody else to hear of the job from
 */
export function reportPauseMs(waitedMs: number): number {
  return waitedMs < eagerForMs ? Math.max(shortestMs, waitedMs / 20) : patientMs;
}
