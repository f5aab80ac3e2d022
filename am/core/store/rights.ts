import {
  isIn,
  type Operation,
  onlyKey,
  type Range,
  type Refusal,
  type Transaction,
  withPrefix,
} from "../../../src/job/store/transaction.ts";

/** The ranges that somebody may use. */
export type Rights = readonly Range[];

/** The job's owner. */
export const allRights: Rights = [{ from: "" }];

/** A task has its own keys, which no other task sees, and those that all tasks share. */
export function rightsOfTask(task: string): Rights {
  return [withPrefix(`task/${task}/`), withPrefix("shared/")];
}

/** Why that transaction is not theirs to make; undefined: it is. */
export function forbidden({ conditions, success, failure }: Transaction, rights: Rights): Refusal | undefined {
  const ranges = [...conditions.map(({ key }) => onlyKey(key)), ...[...success, ...failure].map(rangeOf)];
  const beyond = ranges.find((range) => !mayUse(range, rights));
  return (
    beyond && {
      code: "forbidden",
      message: `${beyond.from} is not yours: use ${rights.map(({ from }) => from).join("… or ")}…`,
    }
  );
}

export function mayUse({ from, to }: Range, rights: Rights): boolean {
  return rights.some((own) => {
    if (!isIn(from, own)) return false;
    return own.to === undefined || (to !== undefined && to <= own.to);
  });
}

function rangeOf(operation: Operation): Range {
  return operation.type === "get" || operation.type === "put" ? onlyKey(operation.key) : operation.range;
}
