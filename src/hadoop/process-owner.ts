import { homedir, userInfo } from "node:os";

/** The login name of this process's user; undefined where the number has none, as in many containers and pods. */
export function loginName(): string | undefined {
  try {
    return userInfo().username;
  } catch {
    return undefined;
  }
}

/** The name, or the number where there is none. */
export function ownerName(): string {
  return loginName() ?? String(process.getuid?.() ?? "unknown");
}

/** Where the system knows no home, `/`, as login programs and container engines have it. */
export function ownerHome(): string {
  try {
    return homedir();
  } catch {
    return "/";
  }
}
