import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { constants } from "node:os";
import { basename } from "node:path";

/** One process, from /proc/<pid>/stat (proc(5)). */
export interface ProcessStat {
  readonly pid: number;
  readonly parent: number;
  /** Its process group. */
  readonly group: number;
  /** `Z` and `X`: it has ended and only waits to be reaped. `T` and `t`: it is stopped. */
  readonly state: string;
  /** User and system time, in clock ticks. */
  readonly cpuTicks: number;
  /** The same for its children that have ended and been reaped, and for theirs. */
  readonly reapedTicks: number;
  /** Since boot, in clock ticks: pids are reused, but pid and start time together are not. */
  readonly startTicks: number;
  readonly residentPages: number;
}

/** What a process and its reaped children have read from disks and written to them, from /proc/<pid>/io (proc(5)). */
export interface ProcessIo {
  readonly readBytes: number;
  readonly writtenBytes: number;
}

/** Reads /proc. Processes start and end meanwhile: one that cannot be read is treated as ended. */
export interface ProcFs {
  pids(): number[];
  stat(pid: number): ProcessStat | undefined;
  /** Undefined where the kernel does not count it, and for a process that this one may not trace. */
  io(pid: number): ProcessIo | undefined;
  /** The name of the file that it runs, `python3.11`; empty when it is not known. */
  executable(pid: number): string;
  /** Whether the process has a handler of its own for the signal. */
  catches(pid: number, signal: NodeJS.Signals | number): boolean;
  /** Whether it has this file open. */
  holds(pid: number, file: string): boolean;
  /** Whether a process was started with exactly this variable, `NAME=value`. */
  hasVariable(pid: number, variable: string): boolean;
}

export function readProcFs(folder = "/proc"): ProcFs {
  return {
    pids: () => readdirSync(folder).flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : [])),
    stat: (pid) => parseStat(read(`${folder}/${pid}/stat`)?.toString("latin1") ?? ""),
    io: (pid) => parseIo(read(`${folder}/${pid}/io`)?.toString("latin1") ?? ""),
    executable: (pid) => basename(readLink(`${folder}/${pid}/exe`)),
    catches: (pid, signal) => {
      const mask = /^SigCgt:\s*([0-9a-f]+)$/m.exec(read(`${folder}/${pid}/status`)?.toString("latin1") ?? "")?.[1];
      const number = typeof signal === "number" ? signal : constants.signals[signal];
      return mask !== undefined && ((BigInt(`0x${mask}`) >> BigInt(number - 1)) & 1n) === 1n;
    },
    holds: (pid, file) =>
      namesIn(`${folder}/${pid}/fd`).some((number) => readLink(`${folder}/${pid}/fd/${number}`) === file),
    hasVariable: (pid, variable) => {
      const wanted = Buffer.from(`\0${variable}\0`);
      const environment = read(`${folder}/${pid}/environ`);
      return environment !== undefined && Buffer.concat([Buffer.of(0), environment, Buffer.of(0)]).includes(wanted);
    },
  };
}

/** The name in parentheses may contain parentheses and spaces: the fields are counted after the last one. */
export function parseStat(text: string): ProcessStat | undefined {
  const nameEnd = text.lastIndexOf(")");
  if (nameEnd < 0) return undefined;
  const fields = text.slice(nameEnd + 2).split(" ");
  // proc(5) counts from 1, and the state after the name is field 3.
  const field = (number: number) => Number(fields[number - 3]);
  return {
    pid: Number.parseInt(text, 10),
    parent: field(4),
    group: field(5),
    state: fields[0] ?? "",
    cpuTicks: field(14) + field(15),
    reapedTicks: field(16) + field(17),
    startTicks: field(22),
    residentPages: field(24),
  };
}

export function parseIo(text: string): ProcessIo | undefined {
  const [, read] = /^read_bytes: (\d+)$/m.exec(text) ?? [];
  const [, written] = /^write_bytes: (\d+)$/m.exec(text) ?? [];
  return read === undefined || written === undefined
    ? undefined
    : { readBytes: Number(read), writtenBytes: Number(written) };
}

/** The kernel's units, from the auxiliary vector of this process (getauxval(3)). */
export interface KernelUnits {
  readonly pageBytes: number;
  readonly ticksPerSecond: number;
}

const AT_PAGESZ = 6n;
const AT_CLKTCK = 17n;
const ENTRY_BYTES = 16;

export function readKernelUnits(vector: Buffer = readFileSync("/proc/self/auxv")): KernelUnits {
  const value = (type: bigint, otherwise: number) => {
    for (let at = 0; at + ENTRY_BYTES <= vector.length; at += ENTRY_BYTES) {
      if (vector.readBigUInt64LE(at) === type) return Number(vector.readBigUInt64LE(at + ENTRY_BYTES / 2));
    }
    return otherwise;
  };
  return { pageBytes: value(AT_PAGESZ, 4096), ticksPerSecond: value(AT_CLKTCK, 100) };
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function read(file: string): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch {
    return undefined;
  }
}

function readLink(file: string): string {
  try {
    return readlinkSync(file);
  } catch {
    return "";
  }
}
