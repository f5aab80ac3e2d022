/** What is used of the optional package koffi. */
export interface Koffi {
  load(path: string): Library;
  struct(members: Readonly<Record<string, Type | string>>): Type;
  pointer(type: Type | string): Type;
  out(type: Type): Type;
  inout(type: Type): Type;
  /** The memory behind a pointer, which stays the library's. */
  view(pointer: bigint, lengthBytes: number): ArrayBuffer;
}

/** A C type. */
export interface Type {
  readonly name: string;
}

/** A C function that gives a number. What an `out` parameter gets is put into the array or object passed for it. */
export interface NativeFunction {
  (...parameters: readonly unknown[]): number;
  /** On another thread; the last parameter is told the error or the result. */
  readonly async: (...parameters: readonly unknown[]) => void;
}

export interface Library {
  func(name: string, result: Type | string, parameters: readonly (Type | string)[]): NativeFunction;
}
