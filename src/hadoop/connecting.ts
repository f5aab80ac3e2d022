/**
 * How long each address of a host is tried before the next one, where it has several. Node gives each 250 ms, in which a far host, or one whose
 * first packet was lost, does not answer: its connection was never made.
 */
export const eachAddress = { autoSelectFamilyAttemptTimeout: 2500 } as const;
