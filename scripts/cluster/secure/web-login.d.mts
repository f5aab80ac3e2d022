import type { AskedCluster } from "../http.mjs";

export function loginCookie(cluster: AskedCluster, user: string, url: string): string;
