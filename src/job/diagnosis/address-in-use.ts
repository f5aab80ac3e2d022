/** The errno EADDRINUSE, as C, Python, Node, Java, gRPC and torch.distributed write it; and the words of TensorBoard. */
const IN_USE = /address already in use|\bEADDRINUSE\b|\berrno[\]": ]+98\b|\bport \d+\b.{0,40}\balready in use\b/i;

/** Whether a program says that a port, which it need not name, is another's. */
export function saysAddressInUse(text: string): boolean {
  return IN_USE.test(text);
}
