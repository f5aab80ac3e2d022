/** A promise, and who settles it. */
export function deferred<Value = void>() {
  let resolve: (value: Value) => void = () => undefined;
  let reject: (reason: unknown) => void = () => undefined;
  const promise = new Promise<Value>((taken, refused) => {
    resolve = taken;
    reject = refused;
  });
  return { promise, resolve, reject };
}
