import { key } from "./key.ts";
import { currency, price } from "./types.ts";

/** A site's prices for what jobs hold: set once, in tony-site.xml. */
export const costKeys = {
  "tony.cost.vcore-hour": key({
    type: price,
    spec: ["am", "vcoreHourPrice"],
    doc: "Price of one core of a task's container per hour. If any of these prices is set, reports, advise, the page and the portal show what a job cost.",
    support: "works",
    ours: true,
  }),
  "tony.cost.gib-hour": key({
    type: price,
    spec: ["am", "gibHourPrice"],
    doc: "Price of one GiB of memory of a task's container per hour.",
    support: "works",
    ours: true,
  }),
  "tony.cost.gpu-hour": key({
    type: price,
    spec: ["am", "gpuHourPrice"],
    doc: "Price of one GPU of a task's container per hour.",
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
