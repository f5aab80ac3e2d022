/** What a page asks for, in the query of its address: of what YARN's proxy takes apart and puts together again only plain signs survive. */
export interface LiveRequest {
  /** The revision that the page has; 0: none. */
  readonly since: number;
  /** The rows of the task table that it shows. */
  readonly from: number;
  readonly count: number;
  readonly sort: SortColumn;
  readonly descending: boolean;
  /** Shown are tasks whose name, host or state has it; empty: all. */
  readonly filter: string;
  /** Whose series it draws; empty: nobody's. */
  readonly task: string;
}

export const sortColumns = ["task", "state", "host", "restarts", "cpu", "memory", "gpu", "step", "rate"] as const;
export type SortColumn = (typeof sortColumns)[number];

export const MOST_PAGE_ROWS = 100;
const PLAIN = /^[A-Za-z0-9_.~,:-]{0,100}$/;

/** Told where one is not a request of the page. */
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
