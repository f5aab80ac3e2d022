/** A page's request, in the query of its address: YARN's proxy parses and rebuilds the query, and only plain characters survive that. */
export interface LiveRequest {
  /** The revision that the page has; 0: none. */
  readonly since: number;
  /** The first of the task table's rows to show. */
  readonly from: number;
  readonly count: number;
  readonly sort: SortColumn;
  readonly descending: boolean;
  /** Shows tasks whose name, host or state contains it; empty: all. */
  readonly filter: string;
  /** The task or role whose series are drawn; empty: none. */
  readonly task: string;
}

export const sortColumns = ["task", "state", "host", "restarts", "cpu", "memory", "gpu", "step", "rate"] as const;
export type SortColumn = (typeof sortColumns)[number];

export const MOST_PAGE_ROWS = 100;
const PLAIN = /^[A-Za-z0-9_.~,:-]{0,100}$/;

/** The answer to a request that no page makes. */
export const NO_SUCH_QUERY = "the page has no such query";

/** Undefined for a query that no page of ours makes. */
export function parseLiveRequest(query: URLSearchParams): LiveRequest | undefined {
  if ([...query].some(([name, value]) => !PLAIN.test(name) || !PLAIN.test(value))) return undefined;
  const number = (name: string, otherwise: number) => {
    const value = query.get(name);
    return value === null ? otherwise : /^\d{1,15}$/.test(value) ? Number(value) : undefined;
  };
  const [since, from, count] = [number("since", 0), number("from", 0), number("count", 50)];
  const sort = sortColumns.find((column) => column === (query.get("sort") ?? "task"));
  if (since === undefined || from === undefined || count === undefined || sort === undefined) return undefined;
  const [filter, task] = [query.get("filter") ?? "", query.get("task") ?? ""];
  const descending = query.get("order") === "down";
  return { since, from, count: Math.min(count, MOST_PAGE_ROWS), sort, descending, filter, task };
}
