const KiB = 1024;

/** What a stranger may cost who connects to the ZeroMQ publisher; listed in docs/limits.md. */
export const zmqLimits = {
  /** Connections of all endpoints; a newcomer takes the place of the oldest one without subscriptions. */
  connections: 1000,
  /** Connections of one IP address, loopback excepted: a room full of miners fits, and leaves room for others. */
  connectionsPerAddress: 250,
  /** Milliseconds until the handshake must be complete. */
  handshakeMs: 10_000,
  /** Longest frame (bytes) a subscriber may send: a subscription or a command. */
  receivedFrameBytes: 2 * KiB,
  /** Frames a subscriber may send at once, and how many more each second. */
  receivedFrames: { burst: 1000, perSecond: 50 },
  /** Subscriptions of one connection, and their length together (bytes). */
  subscriptions: { count: 100, bytes: 8 * KiB },
  /**
   * Bytes sent to a subscriber that it has not read: one more message closes its connection. A message is held once
   * for all its subscribers; one longer than this waits alone.
   */
  unreadBytes: 1024 * KiB,
  /** Milliseconds after which a subscriber that reads nothing of what waits for it is dropped. */
  stalledMs: 30_000,
} as const;

/** The limits by name; tests have others. */
export type ZmqLimits = {
  readonly [K in keyof typeof zmqLimits]: (typeof zmqLimits)[K] extends number
    ? number
    : { readonly [F in keyof (typeof zmqLimits)[K]]: number };
};
