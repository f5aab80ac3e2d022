import {
  BARRIERS,
  isIn,
  type Operation,
  type Range,
  type Refusal,
  type Transaction,
  withPrefix,
} from "../../../src/job/store/transaction.ts";

/** The ranges that a caller may use. */
export type Rights = readonly Range[];

/** The rights of the job's owner. */
export const allRights: Rights = [{ from: "" }];

/** A task has its own keys, which no other task sees, and those that all tasks share. */
export function rightsOfTask(task: string): Rights {
  return [withPrefix(`task/${task}/`), withPrefix("shared/"), BARRIERS];
}

/** Why the caller may not make the transaction; undefined: it may. */
export function forbidden({ conditions, success, failure }: Transaction, rights: Rights): Refusal | undefined {
  const isBeyond = (operation: Operation) =>
    "key" in operation ? !isTheirs(operation.key, rights) : !mayUse(operation.range, rights);
  const condition = conditions.find(({ key }) => !isTheirs(key, rights));
  const beyond = condition ?? success.find(isBeyond) ?? failure.find(isBeyond);
  if (beyond === undefined) return undefined;
  const named = "key" in beyond ? beyond.key : beyond.range.from;
  const own = rights
    .filter((range) => range !== BARRIERS)
    .map(({ from }) => from)
    .join("… or ");
  return { code: "forbidden", message: `${named} is not yours: use ${own}…` };
}

function isTheirs(key: string, rights: Rights): boolean {
  return rights.some((own) => isIn(key, own));
}

export function mayUse({ from, to }: Range, rights: Rights): boolean {
  return rights.some((own) => {
    if (!isIn(from, own)) return false;
    return own.to === undefined || (to !== undefined && to <= own.to);
  });
}
