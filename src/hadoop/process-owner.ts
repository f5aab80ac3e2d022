import { homedir, userInfo } from "node:os";
import { isAbsolute } from "node:path";

/** The login name of this process's user; undefined where the user id has no name, as in many containers and pods. */
export function loginName(): string | undefined {
  try {
    return userInfo().username;
  } catch {
    return undefined;
  }
}

/** The login name, or the user id where there is none. */
export function ownerName(): string {
  return loginName() ?? String(process.getuid?.() ?? "unknown");
}

/**
 * HOME, unless it is not an absolute path: a relative one would mean another folder in every working directory. Where the system knows no
 * home: `/`, as login programs and container engines do.
 */
export function ownerHome(named: () => string = homedir): string {
  try {
    const home = named();
    return isAbsolute(home) ? home : userInfo().homedir;
  } catch {
    return "/";
  }
}
