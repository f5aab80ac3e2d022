import { key } from "./key.ts";
import { currency, price } from "./types.ts";

/** A site's prices for what jobs hold: set once, in tony-site.xml. */
export const costKeys = {
  "tony.cost.vcore-hour": key({
    type: price,
    spec: ["am", "vcoreHourPrice"],
    doc: "The price of a core that tasks' containers hold for an hour. If one of these prices is set, reports, advise, the page and the portal say what a job cost.",
    support: "works",
    ours: true,
  }),
  "tony.cost.gib-hour": key({
    type: price,
    spec: ["am", "gibHourPrice"],
    doc: "The same for a GiB of memory.",
    support: "works",
    ours: true,
  }),
  "tony.cost.gpu-hour": key({
    type: price,
    spec: ["am", "gpuHourPrice"],
    doc: "The same for a GPU.",
    support: "works",
    ours: true,
  }),
  "tony.cost.currency": key({
    type: currency,
    spec: ["am", "currency"],
    doc: "The currency of these prices, such as EUR.",
    support: "works",
    ours: true,
  }),
} as const;
