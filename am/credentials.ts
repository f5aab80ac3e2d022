import { type ApplicationIdentity, executorIdentity, executorSecrets, masterSecrets } from "../src/api/identity.ts";
import { type Credentials, writeTokenFile } from "../src/hadoop/security/token-file.ts";
import { withoutMasterToken } from "../src/hadoop/security/tokens.ts";

/**
 * What a task's container is given of the ApplicationMaster's credentials: the user's tokens and secrets, and of the application's own
 * secrets only what an executor may hold.
 */
export function executorCredentials(own: Credentials, identity: ApplicationIdentity): Uint8Array {
  const { tokens, secrets } = withoutMasterToken(own);
  const ours = masterSecrets(identity);
  const users = [...secrets].filter(([name]) => !ours.has(name));
  return writeTokenFile({ tokens, secrets: new Map([...users, ...executorSecrets(executorIdentity(identity))]) });
}
