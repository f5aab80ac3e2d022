import { isActive, type Parameters, type Space, sizeOf, valueAt } from "./space.ts";

/** All combinations of parameters, the last parameter varying fastest; endless where a space is not finite. */
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

/** The number of combinations. */
export function gridSize(space: Space, before: Parameters = {}): number {
  const [parameter, ...others] = space;
  if (parameter === undefined) return 1;
  if (!isActive(parameter, before)) return gridSize(others, before);
  const { name, domain } = parameter;
  if (domain.kind !== "choice" || others.every(({ when }) => when?.parameter !== name))
    return sizeOf(domain) * gridSize(others, before);
  return domain.choices.reduce<number>((sum, choice) => sum + gridSize(others, { ...before, [name]: choice }), 0);
}

/** Whether a grid has an end. */
export function hasGrid(space: Space): boolean {
  return space.every(({ domain }) => Number.isFinite(sizeOf(domain)));
}
