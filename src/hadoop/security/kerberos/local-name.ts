import type { Configuration } from "../../conf/configuration.ts";
import { AuthenticationError } from "../errors.ts";

export const authToLocalKey = "hadoop.security.auth_to_local";
export const authToLocalMechanismKey = "hadoop.security.auth_to_local.mechanism";

/** `DEFAULT`, or `RULE:[components:format](match)s/from/to/gL`, of which only the bracket is required. */
interface Rule {
  readonly isDefault: boolean;
  readonly components: number;
  readonly format: string;
  readonly match: RegExp | undefined;
  readonly substitution: { readonly from: RegExp; readonly to: string } | undefined;
  readonly lowerCase: boolean;
}

/** org.apache.hadoop.security.authentication.util.KerberosName#ruleParser */
const ruleSyntax = /\s*(?:(DEFAULT)|RULE:\[(\d*):([^\]]*)\](?:\(([^)]*)\))?(?:s\/([^/]*)\/([^/]*)\/(g)?)?)\/?(L)?/y;

/**
 * The short name under which a cluster knows a principal; it determines the user's home and applications
 * (org.apache.hadoop.security.authentication.util.KerberosName#getShortName, `hadoop.security.auth_to_local`).
 * @param principal `alice@REALM` or `service/host@REALM`
 * @throws AuthenticationError for a principal that no rule matches, and ConfigurationError for malformed rules
 */
export function localName(configuration: Configuration, principal: string, defaultRealm: string): string {
  const [, name = "", realm] = /^([^@]+)(?:@(.*))?$/s.exec(principal) ?? [];
  if (realm === undefined) return name;
  const components = name.split("/");
  const simpleOnly = configuration.get(authToLocalMechanismKey)?.toLowerCase() !== "mit";
  for (const rule of parseRules(configuration)) {
    const result = applied(rule, realm, components, defaultRealm);
    if (result === undefined) continue;
    if (simpleOnly && /[/@]/.test(result)) {
      throw configuration.invalid(authToLocalKey, `makes "${result}" of ${principal}, which is not a simple name`);
    }
    return rule.lowerCase ? result.toLowerCase() : result;
  }
  if (!simpleOnly) return principal;
  throw new AuthenticationError(
    `No rule of ${configuration.describe(authToLocalKey)} is for ${principal}; DEFAULT is for the realm ${defaultRealm} (default_realm in krb5.conf)\n` +
      "  klist shows whose tickets are there, kinit gets another's; where the cluster trusts that realm, the rules must say what it calls its users",
    { code: "KERBEROS_REALM" },
  );
}

function applied(rule: Rule, realm: string, components: readonly string[], defaultRealm: string): string | undefined {
  if (rule.isDefault) return realm === defaultRealm ? components[0] : undefined;
  if (components.length !== rule.components) return undefined;
  const parameters = [realm, ...components];
  const base = rule.format.replace(/\$(\d*)/g, (_whole, index: string) => parameters[Number(index)] ?? "");
  if (rule.match !== undefined && !rule.match.test(base)) return undefined;
  const { substitution } = rule;
  return substitution === undefined ? base : base.replace(substitution.from, substitution.to);
}

function parseRules(configuration: Configuration): readonly Rule[] {
  const text = configuration.get(authToLocalKey) || "DEFAULT";
  const rules: Rule[] = [];
  for (let offset = 0; text.slice(offset).trim() !== ""; offset = ruleSyntax.lastIndex) {
    ruleSyntax.lastIndex = offset;
    const found = ruleSyntax.exec(text);
    if (found === null)
      throw configuration.invalid(authToLocalKey, `cannot be read from "${text.slice(offset).trim()}" on`);
    rules.push(ruleOf(configuration, found));
  }
  return rules;
}

function ruleOf(configuration: Configuration, found: RegExpExecArray): Rule {
  const [whole, isDefault, components, format = "", match, from, to = "", all, lowerCase] = found;
  try {
    return {
      isDefault: isDefault !== undefined,
      components: Number(components),
      format,
      match: match === undefined ? undefined : new RegExp(`^(?:${match})$`),
      substitution: from === undefined ? undefined : { from: new RegExp(from, all ?? ""), to },
      lowerCase: lowerCase !== undefined,
    };
  } catch (cause) {
    throw configuration.invalid(authToLocalKey, `has a rule that cannot be read: ${whole.trim()} (${String(cause)})`);
  }
}
