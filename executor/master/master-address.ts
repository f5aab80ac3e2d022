/** Where an attempt of the ApplicationMaster listens. */
export interface MasterAddress {
  readonly attempt: number;
  /** `host:port` */
  readonly address: string;
}
