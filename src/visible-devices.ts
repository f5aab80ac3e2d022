/** The devices that a value of CUDA_VISIBLE_DEVICES names, up to the first that is none, as CUDA reads it. */
export function visibleDevices(value: string): string[] {
  const named = value.split(",").map((name) => name.trim());
  const end = named.findIndex((name) => name === "" || name.startsWith("-"));
  return end < 0 ? named : named.slice(0, end);
}
