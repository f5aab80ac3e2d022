import type { EndsAsked } from "../../src/api/executor-endpoint.ts";
import type { EndsReply, TaskEnd } from "../../src/api/messages.ts";

/** Undefined: they have not all ended. */
type EndsOf = (asking: string, roles: readonly string[]) => readonly TaskEnd[] | undefined;

/** Tells programs how other tasks ended, when they have. */
export class TaskEnds {
  readonly #endsOf: EndsOf;
  readonly #waiting = new Set<() => void>();

  constructor(endsOf: EndsOf) {
    this.#endsOf = endsOf;
  }

  await({ task, roles, gone }: EndsAsked): Promise<EndsReply> {
    return new Promise((resolve) => {
      const look = () => {
        const tasks = this.#endsOf(task, roles);
        if (tasks === undefined) return;
        this.#waiting.delete(look);
        resolve({ tasks });
      };
      this.#waiting.add(look);
      gone.addEventListener("abort", () => this.#waiting.delete(look), { once: true });
      look();
    });
  }

  /** Tasks may have ended. */
  look(): void {
    for (const look of this.#waiting) look();
  }
}
