const MiB = 1024 * 1024;

/** Limits on what all peers together, and each of them, may cost, whatever they send; listed in docs/limits.md. */
export const sharedLimits = {
  memory: {
    /**
     * Memory that all peers together may use: frames that are arriving, messages being handled, messages queued for
     * them, and what handlers reserve. One message of the longest kind (100 MB) fits besides what ordinary peers need.
     */
    allPeersBytes: 160 * MiB,
    /** Memory that one peer may use: one message of the longest kind, and a little more. */
    onePeerBytes: 112 * MiB,
    /** Connections that use no more than this are small: they are dropped last to make room. */
    smallHolderBytes: 1 * MiB,
    /**
     * The part of all peers' memory that is reserved for small connections, so that no other connection is lost when
     * one peer fills the rest.
     */
    smallHoldersBytes: 32 * MiB,
    /** A peer that has not read this much of what it was sent gets no further response. */
    unreadBytes: 2 * MiB,
  },
  work: {
    /**
     * The share of the event loop's time that messages of peers may use, however many peers send however much. RPC
     * callers that are strangers may use as much, and a fifth is left to the owner, blocks being added and timers. What
     * no slice measures, the garbage collector's threads and the system's work for sockets, takes up to as much again.
     * A single peer may use all of it while no other needs any.
     */
    allPeers: { share: 0.4, burstMs: 20 },
    /**
     * The share that a peer may use and still be served before those that used more: a twentieth. A node at the tip of
     * the chain needs a thousandth, so it is served at once even beside many peers that send requests without end.
     */
    onePeer: { share: 0.05, burstMs: 250 },
  },
} as const;
