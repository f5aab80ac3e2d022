/** The errno EADDRINUSE, as C, Python, Node, Java, gRPC and torch.distributed write it; and TensorBoard's words. */
const IN_USE = /address already in use|\bEADDRINUSE\b|\berrno[\]": ]+98\b|\bport \d+\b.{0,40}\balready in use\b/i;
/** Four or five digits that may be a port. */
const NUMBERS = /(?<![\w.])\d{4,5}(?![\w])/g;

/**
 * Whether a program failed because it could not open a port that was held for it: another program was quicker. With a traceback only its
 * exception counts. Words that name another port and none of these are of one that the program chose itself; many name none.
 * @param ports those that were held for it
 */
export function isPortTaken(
  exception: string | undefined,
  lastLines: readonly string[],
  ports: readonly number[],
): boolean {
  const said = (exception?.split("\n") ?? lastLines).filter((line) => IN_USE.test(line));
  const named = said.flatMap((line) => line.match(NUMBERS) ?? []).map(Number);
  return said.length > 0 && (named.length === 0 || named.some((port) => ports.includes(port)));
}
