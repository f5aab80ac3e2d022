/**
 * The key that says where a role's containers may be placed, or else the tags by which constraints name them.
 * @param isSet whether the job or the site sets a key
 */
export function constraintKey(role: string, isSet: (key: string) => boolean): string {
  const own = `tony.${role}.placement-spec`;
  const keys = [
    own,
    "tony.containers.placement-spec",
    "tony.application.placement-spec",
    `tony.${role}.allocation-tags`,
    "tony.containers.allocation-tags",
  ];
  return keys.find(isSet) ?? own;
}
