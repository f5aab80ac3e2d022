/** Python's message when it has no module with the name given by `-m` (runpy._run_module_as_main): its own, without a traceback. */
const COMPLAINT =
  /^(\S*python[\d.]*): (?:Error while finding module specification for '[^']*' \((ModuleNotFoundError: .+)\)|No module named ([\w.]+))$/;

/** `utils` for `lib/utils.py`, and for a folder `lib/utils`. */
export function moduleNameOf(file: string): string {
  return file.slice(file.lastIndexOf("/") + 1).replace(/\.py$/, "");
}

export interface MissingModule {
  readonly interpreter: string;
  /** In the form of a traceback's last line. */
  readonly summary: string;
}

/** The module that a program's last line says its Python lacks. */
export function missingModuleOf(lastLines: readonly string[]): MissingModule | undefined {
  const [, interpreter, error, module = ""] = COMPLAINT.exec(lastLines.at(-1) ?? "") ?? [];
  if (interpreter === undefined) return undefined;
  return { interpreter, summary: error ?? `ModuleNotFoundError: No module named '${module}'` };
}

/** The errno EADDRINUSE, as C, Python, Node, Java, gRPC and torch.distributed write it; and TensorBoard's message. */
const IN_USE = /address already in use|\bEADDRINUSE\b|\berrno[\]": ]+98\b|\bport \d+\b.{0,40}\balready in use\b/i;

/** Whether a program says that another one uses a port, which it need not name. */
export function saysAddressInUse(text: string): boolean {
  return IN_USE.test(text);
}
