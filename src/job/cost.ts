/** An amount of money, or of any other unit that a site counts in. */
export interface Cost {
  readonly amount: number;
  /** The value of `tony.cost.currency`; absent: none is set. */
  readonly currency?: string;
}

/** What containers held, integrated over time. */
export interface Usage {
  readonly memoryMiBSeconds: number;
  readonly vcoreSeconds: number;
  /** Absent: no task requested a GPU, or the counter did not know of any. */
  readonly gpuSeconds?: number;
  /** By the prices at the job's submission; absent: there were none. */
  readonly cost?: Cost;
}

/** A site's prices per hour (`tony.cost.*`). */
export interface Prices {
  readonly vcoreHourPrice?: number;
  readonly gibHourPrice?: number;
  readonly gpuHourPrice?: number;
  readonly currency?: string;
}

const MIB_SECONDS_OF_GIB_HOUR = 1024 * 3600;

/** Undefined where nothing has a price. */
export function costOf(usage: Omit<Usage, "cost">, prices: Prices): Cost | undefined {
  const { vcoreHourPrice, gibHourPrice, gpuHourPrice, currency } = prices;
  if (vcoreHourPrice === undefined && gibHourPrice === undefined && gpuHourPrice === undefined) return undefined;
  const amount =
    (usage.vcoreSeconds / 3600) * (vcoreHourPrice ?? 0) +
    (usage.memoryMiBSeconds / MIB_SECONDS_OF_GIB_HOUR) * (gibHourPrice ?? 0) +
    ((usage.gpuSeconds ?? 0) / 3600) * (gpuHourPrice ?? 0);
  return currency === undefined ? { amount } : { amount, currency };
}

/** `62 EUR`, `0.31` */
export function costWords({ amount, currency }: Cost): string {
  const rounded = amount >= 100 ? Math.round(amount) : Number(amount.toPrecision(2));
  return currency === undefined ? String(rounded) : `${rounded} ${currency}`;
}
