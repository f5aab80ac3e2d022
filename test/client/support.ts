import { PassThrough, Writable } from "node:stream";
import type { ClientContext, OwnStreams } from "../../client/context.ts";
import { Output } from "../../client/output/output.ts";

/** A terminal, or a pipe, that remembers what was written. */
export class RecordedSink {
  text = "";
  readonly isTTY: boolean;
  columns: number;
  rows: number | undefined;
  readonly #looks = new Set<() => void>();

  constructor(isTTY = false, columns = 100) {
    this.isTTY = isTTY;
    this.columns = columns;
  }

  write(text: string): void {
    this.text += text;
    for (const look of this.#looks) look();
  }

  /** Resolves when the text has been written. */
  waitFor(text: string): Promise<void> {
    return new Promise((resolve) => {
      const look = () => {
        if (!this.text.includes(text)) return;
        this.#looks.delete(look);
        resolve();
      };
      this.#looks.add(look);
      look();
    });
  }
}

/** A process's own output, which remembers what was written. */
class OwnOutput extends Writable {
  readonly isTTY: boolean;
  columns = 80;
  rows = 24;
  text = "";

  constructor(isTTY: boolean) {
    super();
    this.isTTY = isTTY;
  }

  override _write(data: Buffer, _encoding: string, done: () => void): void {
    this.text += String(data);
    done();
  }
}

export interface RecordedStreams extends OwnStreams {
  readonly stdin: PassThrough & OwnStreams["stdin"];
  readonly stdout: OwnOutput;
  readonly stderr: OwnOutput;
  /** Whether the terminal was raw, each time that this was said. */
  readonly modes: readonly boolean[];
}

/** A process's own streams: of a terminal, or pipes. @param typed what comes there, and its end; default: nothing comes */
export function recordedStreams({
  terminal = false,
  typed,
}: {
  readonly terminal?: boolean;
  readonly typed?: string;
} = {}): RecordedStreams {
  const modes: boolean[] = [];
  const more = { isTTY: terminal, setRawMode: (mode: boolean) => modes.push(mode) };
  const stdin = Object.assign(new PassThrough(), more);
  if (typed !== undefined) stdin.end(typed);
  return { stdin, stdout: new OwnOutput(terminal), stderr: new OwnOutput(terminal), modes };
}

/** A clock that is set by hand. */
export class ManualClock {
  nowMs: number;

  constructor(nowMs = 0) {
    this.nowMs = nowMs;
  }

  readonly now = (): number => this.nowMs;
}

export interface RecordedContext extends ClientContext {
  readonly out: RecordedSink;
  readonly err: RecordedSink;
  readonly clock: ManualClock;
}

/** A context whose output is recorded and whose time is set by hand. */
export function recordedContext(options: {
  readonly environment?: Readonly<Record<string, string>>;
  readonly terminal?: boolean;
  readonly workingDirectory?: string;
  readonly streams?: OwnStreams;
}): RecordedContext {
  const { environment = {}, terminal = false, workingDirectory = "/" } = options;
  const { streams = recordedStreams({ terminal }) } = options;
  const out = new RecordedSink(terminal);
  const err = new RecordedSink(terminal);
  const clock = new ManualClock(1_795_305_600_000);
  const output = new Output({ out, err, environment, now: clock.now });
  return { environment, workingDirectory, output, streams, now: clock.now, out, err, clock };
}
