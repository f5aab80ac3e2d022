import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CHECKOUT } from "../cluster/folders.mjs";

/**
 * Runs one phase to its end or to its limit.
 * @param {import("./phases.mjs").Phase} phase
 * @param {AbortSignal} [signal] ends it at once
 * @returns {Promise<{ passed: number, failed: number, seconds: number, output: string }>} tests where the phase counts some, else the phase itself
 */
export async function runPhase(phase, signal) {
  const folder = await mkdtemp(join(tmpdir(), "tony-ts-phase-"));
  const reportFile = join(folder, "report.json");
  const started = performance.now();
  try {
    const { code, output, timedOut } = await runCommand(
      phase,
      phase.jest ? ["--json", `--outputFile=${reportFile}`] : [],
      signal,
    );
    const seconds = (performance.now() - started) / 1000;
    if (timedOut)
      return { passed: 0, failed: 1, seconds, output: `${output}\nended: over its limit of ${phase.limitSeconds} s` };
    const { passed, failed } = phase.jest
      ? await countTests(reportFile, code)
      : { passed: code === 0 ? 1 : 0, failed: code === 0 ? 0 : 1 };
    return { passed, failed, seconds, output };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** A suite that could not run, and a run without any test, are failures too. */
async function countTests(reportFile, code) {
  const report = JSON.parse(await readFile(reportFile, "utf8").catch(() => "{}"));
  const passed = report.numPassedTests ?? 0;
  const failed = (report.numFailedTests ?? 0) + (report.numRuntimeErrorTestSuites ?? 0) + (report.numPendingTests ?? 0);
  const silentFailure = failed === 0 && (code !== 0 || passed === 0) ? 1 : 0;
  return { passed, failed: failed + silentFailure };
}

/** The command runs in a process group of its own, so that a breach of the limit ends all of it. */
function runCommand({ command, environment, limitSeconds }, extra, signal) {
  const [program, ...args] = command;
  return new Promise((resolve, reject) => {
    const child = spawn(program === "node" ? process.execPath : program, [...args, ...extra], {
      cwd: CHECKOUT,
      env: { ...process.env, ...environment },
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    let timedOut = false;
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text) => {
        output += text;
      });
    }
    const endGroup = () => process.kill(-child.pid, "SIGKILL");
    signal?.addEventListener("abort", endGroup);
    const timer = setTimeout(() => {
      timedOut = true;
      endGroup();
    }, limitSeconds * 1000);
    child.on("error", reject);
    child.on("exit", (code) => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", endGroup);
      // A daemon left behind may hold the pipes open: what it prints later is not waited for.
      setTimeout(() => {
        child.stdout.destroy();
        child.stderr.destroy();
        resolve({ code, output, timedOut });
      }, 100);
    });
  });
}
