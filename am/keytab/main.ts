import { createRequire } from "node:module";
import { text } from "node:stream/consumers";
import { errorMessage } from "../../src/hadoop/errors.ts";
import { loadGssApi } from "../../src/hadoop/security/kerberos/libgssapi.ts";
import { writeTokenFile } from "../../src/hadoop/security/token-file.ts";
import { parseLoginRequest } from "./login-request.ts";
import { obtainTokens } from "./obtain-tokens.ts";

/** Logs in for an ApplicationMaster with the job's keytab: reads a LoginRequest, writes a token file, and exits. */
async function main(): Promise<void> {
  const request = parseLoginRequest(await text(process.stdin));
  const load = createRequire(request.nativeModule);
  const tokens = await obtainTokens(request, () => loadGssApi(async () => load(request.nativeModule)));
  process.stdout.write(writeTokenFile({ tokens, secrets: new Map() }));
}

main().catch((error: unknown) => {
  process.stderr.write(`${errorMessage(error)}\n`);
  process.exitCode = 1;
});
