/** The optional package koffi, which may not be installed where this is compiled. */
declare module "koffi" {
  type Package = import("./koffi-package.ts").Koffi;
  const load: Package["load"];
  const struct: Package["struct"];
  const pointer: Package["pointer"];
  const out: Package["out"];
  const inout: Package["inout"];
  const view: Package["view"];
}
