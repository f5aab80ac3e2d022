/** Inputs that were once not refused as they should be, by the name of their reader. */
export const corpus: Readonly<Record<string, readonly Uint8Array[]>> = {
  "client.json": ["", "{", "null", '{"applicationId":"a"}'].map((text) => Buffer.from(text)),
};
