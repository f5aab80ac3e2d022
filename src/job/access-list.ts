/**
 * What a user may do with an application. The first two are YARN's (org.apache.hadoop.yarn.api.records.ApplicationAccessType); a user who
 * may run something in its containers acts there as its owner, for HDFS too. Each right includes the ones before it.
 */
export type ApplicationRight = "view" | "modify" | "run";

/** The access lists in a job's keys. */
export interface AccessLists {
  readonly viewAcl?: string;
  readonly modifyAcl?: string;
  readonly runAcl?: string;
}

/** Users and groups in YARN's format: users, a space, groups, each separated by commas; `*` for everybody. */
export interface AccessList {
  readonly everybody: boolean;
  readonly users: readonly string[];
  readonly groups: readonly string[];
}

/** Parses one (org.apache.hadoop.security.authorize.AccessControlList); absent: nobody. */
export function parseAccessList(text = ""): AccessList {
  if (text.trim() === "*") return { everybody: true, users: [], groups: [] };
  const space = text.indexOf(" ");
  const [users, groups] = space < 0 ? [text, ""] : [text.slice(0, space), text.slice(space + 1)];
  return { everybody: false, users: names(users), groups: names(groups) };
}

/** Those who get a right from the job in addition to its owner, in YARN's format; undefined: nobody. */
export function holdersOf(right: ApplicationRight, { viewAcl, modifyAcl, runAcl }: AccessLists): string | undefined {
  const texts = { view: [viewAcl, modifyAcl, runAcl], modify: [modifyAcl, runAcl], run: [runAcl] }[right];
  const given = texts.filter((text) => text !== undefined);
  if (given.length < 2) return given[0];
  const lists = given.map(parseAccessList);
  if (lists.some(({ everybody }) => everybody)) return "*";
  const all = (kind: "users" | "groups") => [...new Set(lists.flatMap((list) => list[kind]))].join(",");
  return `${all("users")} ${all("groups")}`.trimEnd();
}

function names(text: string): string[] {
  return text
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
}
