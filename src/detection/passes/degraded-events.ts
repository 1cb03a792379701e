// Data of the events about networks and addresses that cannot be read.
export interface WatchEvents {
  readonly "wallet.detection_degraded": {
    readonly network: string;
    readonly degradedSince: string;
    readonly reason: string | null;
  };
  readonly "wallet.address_degraded": {
    readonly network: string;
    readonly address: string;
    readonly degradedSince: string;
    readonly reason: string;
  };
}
