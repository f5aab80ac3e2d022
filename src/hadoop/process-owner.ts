import { homedir, userInfo } from "node:os";
import { isAbsolute } from "node:path";

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

/**
 * HOME, unless that is no absolute path: it would be another folder wherever a command runs. Where the system knows no home, `/`, as login
 * programs and container engines have it.
 */
export function ownerHome(named: () => string = homedir): string {
  try {
    const home = named();
    return isAbsolute(home) ? home : userInfo().homedir;
  } catch {
    return "/";
  }
}
