import { TonyError } from "../../src/errors.ts";
import { arrayOf, object, recordOf, type Shape, string } from "../../src/job/shape.ts";
import type { UsedFileSystem } from "../../src/tokens/token-issuers.ts";

/** What the ApplicationMaster asks of the program that logs in: JSON on its standard input. The answer is a token file's bytes. */
export interface LoginRequest {
  readonly principal: string;
  /** The keytab's bytes, base64. */
  readonly keytab: string;
  /** Absolute path of koffi's module, so that nothing installed on the node is loaded. */
  readonly nativeModule: string;
  /** The job's user. */
  readonly user: string;
  readonly hadoop: Readonly<Record<string, string>>;
  /** The file systems whose tokens are wanted, besides the key server's and the ResourceManager's tokens. */
  readonly used: readonly UsedFileSystem[];
}

const loginRequest: Shape<LoginRequest> = object({
  required: {
    principal: string,
    keytab: string,
    nativeModule: string,
    user: string,
    hadoop: recordOf(string),
    used: arrayOf<UsedFileSystem>(object({ required: { uri: string }, optional: { namedBy: string } })),
  },
  optional: {},
});

/** @throws TonyError (`LOGIN_REQUEST_INVALID`) */
export function parseLoginRequest(text: string): LoginRequest {
  try {
    return loginRequest(JSON.parse(text), "");
  } catch (cause) {
    throw new TonyError("this program is started by a job's ApplicationMaster, which says on its input who logs in", {
      code: "LOGIN_REQUEST_INVALID",
      cause,
    });
  }
}
