/** As Python says that it has no module of the name that `-m` gives (runpy._run_module_as_main): itself, without a traceback. */
const COMPLAINT =
  /^(\S*python[\d.]*): (?:Error while finding module specification for '[^']*' \((ModuleNotFoundError: .+)\)|No module named ([\w.]+))$/;

/** `utils` of `lib/utils.py`, and of a folder `lib/utils`. */
export function moduleNameOf(file: string): string {
  return file.slice(file.lastIndexOf("/") + 1).replace(/\.py$/, "");
}

export interface MissingModule {
  readonly interpreter: string;
  /** As a traceback would have it. */
  readonly summary: string;
}

/** What a program's last line says of a module that its Python lacks. */
export function missingModuleOf(lastLines: readonly string[]): MissingModule | undefined {
  const [, interpreter, error, module = ""] = COMPLAINT.exec(lastLines.at(-1) ?? "") ?? [];
  if (interpreter === undefined) return undefined;
  return { interpreter, summary: error ?? `ModuleNotFoundError: No module named '${module}'` };
}

/** The errno EADDRINUSE, as C, Python, Node, Java, gRPC and torch.distributed write it; and the words of TensorBoard. */
const IN_USE = /address already in use|\bEADDRINUSE\b|\berrno[\]": ]+98\b|\bport \d+\b.{0,40}\balready in use\b/i;

/** Whether a program says that a port, which it need not name, is another's. */
export function saysAddressInUse(text: string): boolean {
  return IN_USE.test(text);
}
