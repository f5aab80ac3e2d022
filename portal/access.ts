import { type AccessList, parseAccessList } from "../src/job/access-list.ts";
import type { JobRow } from "../src/page/portal-answers.ts";

/** The person or program that asks the portal. */
export interface Viewer {
  /** Undefined: the portal's own user, who sees everything that the portal may read. */
  readonly user: string | undefined;
  readonly groups: readonly string[];
}

export interface AccessOptions {
  /** Users and groups who see all jobs, as in YARN's `yarn.admin.acl`. */
  readonly admins: string;
  /** The groups of a user, as this machine knows them. */
  readonly groupsOf: (user: string) => Promise<readonly string[]>;
  readonly nowMs: () => number;
}

/** A user name that Linux and Hadoop accept. */
export const USER = /^[A-Za-z_][\w.-]{0,255}$/;
const GROUPS_MS = 5 * 60_000;
const MOST_USERS = 1_000;

/** Which jobs a viewer may see: their own, those whose `tony.application.acl.*` name them, and as an administrator all. */
export class Access {
  readonly #options: AccessOptions;
  readonly #admins: AccessList;
  readonly #viewers = new Map<string, { readonly atMs: number; readonly viewer: Promise<Viewer> }>();
  readonly #lists = new Map<string, AccessList>();

  constructor(options: AccessOptions) {
    this.#options = options;
    // Hadoop's default lets everybody do everything; it is no decision to show all jobs to everybody.
    const { everybody, ...named } = parseAccessList(options.admins);
    this.#admins = { ...named, everybody: false };
  }

  /** A user's groups are looked up once in five minutes. */
  viewer(user: string): Promise<Viewer> {
    const { groupsOf, nowMs } = this.#options;
    const known = this.#viewers.get(user);
    if (known !== undefined && nowMs() - known.atMs < GROUPS_MS) return known.viewer;
    const viewer = groupsOf(user).then((groups) => ({ user, groups }));
    this.#viewers.delete(user);
    this.#viewers.set(user, { atMs: nowMs(), viewer });
    const [oldest] = this.#viewers.keys();
    if (this.#viewers.size > MOST_USERS && oldest !== undefined) this.#viewers.delete(oldest);
    return viewer;
  }

  maySee({ user, groups }: Viewer, job: Pick<JobRow, "user" | "viewers">): boolean {
    if (user === undefined || user === job.user) return true;
    return [this.#admins, this.#listOf(job.viewers ?? "")].some(
      (list) => list.everybody || list.users.includes(user) || list.groups.some((group) => groups.includes(group)),
    );
  }

  #listOf(text: string): AccessList {
    if (this.#lists.size > MOST_USERS) this.#lists.clear();
    const list = this.#lists.get(text) ?? parseAccessList(text);
    this.#lists.set(text, list);
    return list;
  }
}

/** Which permission is missing, and who can give it. */
export function refusalOf(viewer: Viewer, applicationId: string, { user }: Pick<JobRow, "user">): string {
  return `${viewer.user} may not see ${applicationId}: it is ${user}'s. A job's key tony.application.acl.view lets others see it; users named in yarn.admin.acl see all jobs`;
}
