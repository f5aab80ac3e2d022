import { HadoopError } from "../errors.ts";
import type { Resource, ResourceType } from "./records.ts";

/** Memory and cores have fields of their own in the messages. */
const builtIn: ReadonlySet<string> = new Set(["memory-mb", "vcores"]);

/**
 * A resource type that the ResourceManager does not know. It would drop the type in silence and give containers without it, so the
 * request is refused here.
 */
export class UnknownResourceTypeError extends HadoopError {
  override readonly name = "UnknownResourceTypeError";
  readonly resourceType: string;

  constructor(resourceType: string, known: readonly string[]) {
    const others = known.length === 0 ? "it has none besides memory and cores" : `it has ${known.join(", ")}`;
    super(`The cluster has no resource type "${resourceType}": ${others}`, { code: "RESOURCE_TYPE_UNKNOWN" });
    this.resourceType = resourceType;
  }
}

/** The resource types of a cluster. */
export class ResourceTypes {
  readonly #units: ReadonlyMap<string, string>;

  constructor(types: readonly ResourceType[]) {
    this.#units = new Map(types.filter(({ name }) => !builtIn.has(name)).map(({ name, units }) => [name, units]));
  }

  /** Besides memory and cores. */
  get names(): readonly string[] {
    return [...this.#units.keys()];
  }

  /** Throws UnknownResourceTypeError. */
  unitsOf(name: string): string {
    const units = this.#units.get(name);
    if (units === undefined) throw new UnknownResourceTypeError(name, this.names);
    return units;
  }

  /** Throws UnknownResourceTypeError for the first type that the cluster lacks. */
  check(resource: Resource): void {
    for (const name of namedTypes(resource)) this.unitsOf(name);
  }
}

/** The types beside memory and cores of which a resource has any. */
export function namedTypes({ others }: Resource): readonly string[] {
  return Object.keys(others).filter((name) => others[name] !== 0);
}
