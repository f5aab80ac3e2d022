import type { ClientDoor } from "../../src/api/client-endpoint.ts";
import { type ApplicationIdentity, clientAccess, OWNER, tokenOf } from "../../src/api/identity.ts";
import type { Configuration } from "../../src/hadoop/conf/configuration.ts";
import { localName } from "../../src/hadoop/security/kerberos/local-name.ts";
import { clientOfToken, clientTokenPassword } from "../../src/hadoop/yarn/client-token.ts";
import {
  type AccessList,
  type AccessLists,
  type ApplicationRight,
  holdersOf,
  parseAccessList,
} from "../../src/job/access-list.ts";
import { resourceManagerPrincipalKey } from "../../src/job/stored/handed-settings.ts";

export interface ClientRightsOptions {
  readonly identity: ApplicationIdentity;
  /** The user whose application it is. */
  readonly user: string;
  readonly spec: AccessLists;
  /** The cluster's name for a principal; undefined: its rules give none. */
  readonly localNameOf: (principal: string) => string | undefined;
  /** The key from which the ResourceManager derives its client tokens for this attempt; absent where it gives none. */
  readonly tokenKey: () => Uint8Array | undefined;
  /** The groups of a user, as this node knows them. */
  readonly groupsOf: (user: string) => Promise<readonly string[]>;
}

const keys: Readonly<Record<ApplicationRight, { readonly key: string; readonly what: string }>> = {
  view: { key: "tony.application.acl.view", what: "see" },
  modify: { key: "tony.application.acl.modify", what: "end" },
  run: { key: "tony.application.acl.run", what: "run anything in" },
};

/**
 * Who may ask what of this ApplicationMaster. Two kinds of clients prove who they are: those who can read the staging folder, which is its
 * owner's alone, and on a secure cluster those to whom the ResourceManager gave a token in their name.
 */
export class ClientRights implements ClientDoor {
  readonly #options: ClientRightsOptions;
  readonly #lists: Readonly<Record<ApplicationRight, AccessList>>;

  constructor(options: ClientRightsOptions) {
    this.#options = options;
    const { spec } = options;
    const listOf = (right: ApplicationRight) => parseAccessList(holdersOf(right, spec));
    this.#lists = { view: listOf("view"), modify: listOf("modify"), run: listOf("run") };
  }

  secretOf(caller: string): Uint8Array | undefined {
    if (caller === OWNER) return clientAccess(this.#options.identity).caller.secret;
    const token = tokenOf(caller);
    const key = this.#options.tokenKey();
    return token && key && clientTokenPassword(key, token);
  }

  userOf(caller: string): string {
    return caller === OWNER ? this.#options.user : clientOfToken(tokenOf(caller) ?? new Uint8Array());
  }

  async refusal(caller: string, right: ApplicationRight): Promise<string | undefined> {
    if (caller === OWNER) return undefined;
    const client = this.userOf(caller);
    const user = client === "" ? undefined : this.#options.localNameOf(client);
    if (user !== undefined && (await this.mayDo(user, right))) return undefined;
    const { key, what } = keys[right];
    return `${client} may not ${what} this job: it is ${this.#options.user}'s, and its ${key} does not let others`;
  }

  /** @param user as the cluster names them */
  async mayDo(user: string, right: ApplicationRight): Promise<boolean> {
    const { everybody, users, groups } = this.#lists[right];
    if (user === this.#options.user || everybody || users.includes(user)) return true;
    if (groups.length === 0) return false;
    const own = await this.#options.groupsOf(user);
    return groups.some((group) => own.includes(group));
  }
}

/** A secure cluster's name for each principal, by the rules that this job was given; undefined: the rules give none. */
export function localNames(configuration: Configuration): ClientRightsOptions["localNameOf"] {
  const realm = configuration.get(resourceManagerPrincipalKey)?.split("@")[1] ?? "";
  return (principal) => {
    try {
      return localName(configuration, principal, realm);
    } catch {
      return undefined;
    }
  };
}
