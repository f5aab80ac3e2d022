import type { ClientContext } from "../../client/context.ts";
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
}): RecordedContext {
  const { environment = {}, terminal = false, workingDirectory = "/" } = options;
  const out = new RecordedSink(terminal);
  const err = new RecordedSink(terminal);
  const clock = new ManualClock(1_795_305_600_000);
  const output = new Output({ out, err, environment, now: clock.now });
  return { environment, workingDirectory, output, now: clock.now, out, err, clock };
}
