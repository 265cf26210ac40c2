const MiB = 1024 * 1024;

/** What all peers together, and each of them, may cost whatever they send; listed in docs/limits.md. */
export const sharedLimits = {
  memory: {
    /**
     * Memory that all peers together may make us hold: frames that are arriving, messages being handled, messages
     * queued for them, and what handlers reserve. One message of the longest kind (100 MB) fits beside what ordinary
     * peers need.
     */
    allPeersBytes: 192 * MiB,
    /** Memory that one peer may make us hold: one message of the longest kind, and some. */
    onePeerBytes: 112 * MiB,
    /** Connections that hold no more than this are small ones: they are dropped last to make room. */
    smallHolderBytes: 1 * MiB,
    /** Of all peers' memory, what only small ones get, so that whoever fills the rest costs nobody else a connection. */
    smallHoldersBytes: 32 * MiB,
    /** A peer that has not read this much of what it was sent gets no further response. */
    unreadBytes: 2 * MiB,
  },
  work: {
    /**
     * Of the event loop's time, what messages of peers may use: half, so that RPC callers, blocks being added and
     * timers find it free every other moment, however many peers want how much. A single peer may have all of it while
     * no other wants any: enough to serve, or to read, some ten thousand empty blocks a second.
     */
    allPeers: { share: 0.5, burstMs: 20 },
    /**
     * What a peer may use and still go before those that used more: a twentieth. A node at the tip of the chain needs
     * a thousandth, so it is served at once even beside many that ask without end.
     */
    onePeer: { share: 0.05, burstMs: 250 },
  },
} as const;
