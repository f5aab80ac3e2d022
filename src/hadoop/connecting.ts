/**
 * How long Node tries each address of a host that has several before it tries the next one. Node's default is 250 ms: a distant host, or
 * one whose first packet was lost, does not answer in that time, and no connection was ever made.
 */
export const eachAddress = { autoSelectFamilyAttemptTimeout: 2500 } as const;
