/** What a user may do with an application, as YARN has it (org.apache.hadoop.yarn.api.records.ApplicationAccessType). */
export type ApplicationRight = "view" | "modify";

/** Users and groups, as YARN writes them: users, a space, groups, each separated by commas; `*` for everybody. */
export interface AccessList {
  readonly everybody: boolean;
  readonly users: readonly string[];
  readonly groups: readonly string[];
}

/** Reads one (org.apache.hadoop.security.authorize.AccessControlList); absent: nobody. */
export function parseAccessList(text = ""): AccessList {
  if (text.trim() === "*") return { everybody: true, users: [], groups: [] };
  const space = text.indexOf(" ");
  const [users, groups] = space < 0 ? [text, ""] : [text.slice(0, space), text.slice(space + 1)];
  return { everybody: false, users: names(users), groups: names(groups) };
}

/** Whom a job lets see it, as YARN writes it: who may end it and run commands in it may, too. Undefined: nobody else. */
export function viewersOf({
  viewAcl,
  modifyAcl,
}: {
  readonly viewAcl?: string;
  readonly modifyAcl?: string;
}): string | undefined {
  if (viewAcl === undefined || modifyAcl === undefined) return viewAcl ?? modifyAcl;
  const lists = [parseAccessList(viewAcl), parseAccessList(modifyAcl)];
  if (lists.some(({ everybody }) => everybody)) return "*";
  const [users, groups] = (["users", "groups"] as const).map((kind) => [
    ...new Set(lists.flatMap((list) => list[kind])),
  ]);
  return `${users?.join(",")} ${groups?.join(",")}`.trimEnd();
}

function names(text: string): string[] {
  return text
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
}
