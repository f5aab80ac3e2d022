import type { EndsAsked } from "../../src/api/executor-endpoint.ts";
import type { EndsReply, TaskEnd } from "../../src/api/messages.ts";

/** Undefined: not all of them have ended. */
type EndsOf = (asking: string, roles: readonly string[]) => readonly TaskEnd[] | undefined;

/** Tells programs how other tasks ended, once they have. */
export class TaskEnds {
  readonly #endsOf: EndsOf;
  readonly #roles: () => readonly string[];
  readonly #waiting = new Set<() => void>();

  /** @param roles of the job: other names that a task gives, perhaps thousands, are not checked again and again */
  constructor(endsOf: EndsOf, roles: () => readonly string[]) {
    this.#endsOf = endsOf;
    this.#roles = roles;
  }

  await({ task, roles, gone }: EndsAsked): Promise<EndsReply> {
    const meant = this.#roles().filter((role) => roles.includes(role));
    return new Promise((resolve) => {
      const look = () => {
        const tasks = this.#endsOf(task, meant);
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
