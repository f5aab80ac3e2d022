/** What of a cluster's status tells how its web ends are asked. */
export interface AskedCluster {
  readonly settings: { readonly secure: boolean };
  readonly state: string;
  readonly users: { readonly yarn: { readonly name: string } };
}

export function httpRequest(
  cluster: AskedCluster,
  url: string,
  options?: { readonly as?: string; readonly method?: string; readonly body?: unknown; readonly timeoutMs?: number },
): Promise<{ readonly status: number; readonly text: string }>;
