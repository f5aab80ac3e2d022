/** The part of the optional package koffi that is used. */
export interface Koffi {
  load(path: string): Library;
  struct(members: Readonly<Record<string, Type | string>>): Type;
  pointer(type: Type | string): Type;
  out(type: Type): Type;
  inout(type: Type): Type;
  /** The memory behind a pointer; it still belongs to the library. */
  view(pointer: bigint, lengthBytes: number): ArrayBuffer;
}

/** A C type. */
export interface Type {
  readonly name: string;
}

/** A C function that returns a number. The result of an `out` parameter is stored in the array or object passed for it. */
export interface NativeFunction {
  (...parameters: readonly unknown[]): number;
  /** On another thread; the last parameter is a callback for the error or the result. */
  readonly async: (...parameters: readonly unknown[]) => void;
}

export interface Library {
  func(name: string, result: Type | string, parameters: readonly (Type | string)[]): NativeFunction;
}
