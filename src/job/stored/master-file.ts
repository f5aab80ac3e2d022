/** The file in the staging folder in which an attempt of the ApplicationMaster leaves its address. */
export function masterFile(attempt: number): string {
  return `am-${attempt}.json`;
}

/** @returns the attempt whose address a file of that name holds; undefined of any other file */
export function attemptOfMasterFile(name: string): number | undefined {
  const attempt = /^am-(\d+)\.json$/.exec(name)?.[1];
  return attempt === undefined ? undefined : Number(attempt);
}
