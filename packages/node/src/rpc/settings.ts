/** What callers may set while the node runs. Rates in kB per second. */
export interface Settings {
  limitDown: number;
  limitUp: number;
  outPeers: number;
  inPeers: number;
  /** Another node to answer while this one is behind, "" for none; a node without peers never is. */
  bootstrapDaemon: string;
}

/** Source: cryptonote_config.h P2P_DEFAULT_LIMIT_RATE_*. */
export const defaultLimits = { down: 8192, up: 2048 } as const;

/** Settings of a node that was told nothing. */
export function defaultSettings(): Settings {
  return {
    limitDown: defaultLimits.down,
    limitUp: defaultLimits.up,
    outPeers: 12,
    inPeers: 0xffffffff,
    bootstrapDaemon: "",
  };
}
