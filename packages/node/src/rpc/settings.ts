/** What callers may set while the node runs. */
export interface Settings {
  /** Another node to answer while this one is behind, "" for none. */
  bootstrapDaemon: string;
}

/** Settings of a node that was told nothing. */
export function defaultSettings(): Settings {
  return { bootstrapDaemon: "" };
}
