import type { IForbiddenRuleType } from "dependency-cruiser";

export const clientRooms: readonly string[];
export const executorRooms: readonly string[];
export const masterRooms: readonly string[];
export const coreRooms: readonly string[];
export const hadoopLayers: readonly string[];
export const forbidden: readonly (IForbiddenRuleType & { readonly name: string })[];
