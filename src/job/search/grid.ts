import { isActive, type Parameters, type Space, sizeOf, valueAt } from "./space.ts";

/** All parameters that there are, those of the last one next to each other; endless of a space that is not finite. */
export function* gridOf(space: Space, before: Parameters = {}): Generator<Parameters> {
  const [parameter, ...others] = space;
  if (parameter === undefined) {
    yield before;
    return;
  }
  if (!isActive(parameter, before)) {
    yield* gridOf(others, before);
    return;
  }
  const size = sizeOf(parameter.domain);
  for (let index = 0; index < size; index += 1) {
    yield* gridOf(others, { ...before, [parameter.name]: valueAt(parameter.domain, index) });
  }
}

/** Whether a grid has an end. */
export function hasGrid(space: Space): boolean {
  return space.every(({ domain }) => Number.isFinite(sizeOf(domain)));
}
