/** What one look at the cluster found. */
export interface Finding {
  readonly subject: string;
  readonly state: "well" | "remark" | "wrong";
  readonly found: string;
  readonly remedy?: string;
}
