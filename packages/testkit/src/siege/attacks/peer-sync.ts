import { randomBytes } from "node:crypto";
import { pruningSeed } from "@anulo/protocol";
import type { Attack } from "../attack.ts";
import { blockPayload, chainPayload, forgedBlock, recordedId } from "../hostile-data.ts";
import { type Claim, claimEntry, commands, frame, requestFrame } from "../hostile-peer.ts";
import {
  arrayEntry,
  fields,
  message,
  stringEntry,
  stringsEntry,
  tags,
  uint64Entry,
} from "../portable-bytes.ts";
import type { Siege } from "../siege.ts";

const PEERS = 20;
/** A chain that is better than ours, as far as words go. */
const better = (): Claim => ({
  height: 30_000,
  difficulty: 1n << 60n,
  topId: new Uint8Array(randomBytes(32)),
});

interface Lie {
  /** Of each block, in bytes. */
  readonly weight?: number;
  readonly totalHeight?: number;
}

const lyingChain = (siege: Siege, count: number, { weight, totalHeight = 30_000 }: Lie = {}) =>
  chainPayload({
    startHeight: siege.chain.blocks.length,
    totalHeight,
    difficulty: 1n << 60n,
    ids: [
      recordedId(siege.chain, siege.chain.blocks.length),
      ...Array.from({ length: count - 1 }, () => new Uint8Array(randomBytes(32))),
    ],
    ...(weight !== undefined && { weights: Array.from({ length: count }, () => weight) }),
  });

/** Chains that are claimed. */
export const syncAttacks: Attack[] = [
  {
    name: "peer-mute-sync",
    by: "peer",
    does: "peers claim a far better chain and answer nothing when asked for it",
    stands: "promises that hold up the fetching of blocks",
    async run(siege) {
      await siege.meetMany(PEERS, { claim: better() });
      await siege.end();
    },
  },
  {
    name: "peer-endless-chain",
    by: "peer",
    does: "peers answer with chains of 25,000 invented ids, and never with a block",
    stands: "long lists from peers that are checked in one go",
    async run(siege) {
      const payload = lyingChain(siege, siege.sized(25_000, 10_000));
      await siege.flood(
        PEERS,
        async (peer) => {
          await peer.closed;
        },
        {
          claim: better(),
          onFrame: ({ command }, peer) => {
            if (command === commands.requestChain) void peer.send(frame(commands.chain, payload));
          },
        },
      );
    },
  },
  {
    name: "peer-pruned-chain",
    by: "peer",
    does: "peers that say they keep one stripe of blocks answer with chains of 25,000 invented ids outside it, and stay",
    stands: "lists that are looked through whenever a peer's turn comes",
    async run(siege) {
      const height = 450_000;
      const payload = lyingChain(siege, siege.sized(25_000, 10_000), { totalHeight: height });
      await siege.meetMany(PEERS, {
        claim: { ...better(), height, pruningSeed: pruningSeed(8) },
        onFrame: ({ command }, peer) => {
          if (command === commands.requestChain) void peer.send(frame(commands.chain, payload));
        },
      });
      await siege.end();
    },
  },
  {
    name: "peer-heavy-weights",
    by: "peer",
    does: "peers announce invented blocks of a terabyte each, are asked for them, and stay",
    stands: "room that is kept for what a peer only speaks of",
    async run(siege) {
      const payload = lyingChain(siege, 1000, { weight: 2 ** 40 });
      await siege.meetMany(PEERS, {
        claim: better(),
        onFrame: ({ command }, peer) => {
          if (command === commands.requestChain) void peer.send(frame(commands.chain, payload));
        },
      });
      await siege.end();
    },
  },
  {
    name: "peer-tiny-weights",
    by: "peer",
    does: "chains whose blocks are announced with a weight of 1, so that more are asked for at once",
    stands: "sizes that a peer may announce",
    async run(siege) {
      const payload = lyingChain(siege, 5000, { weight: 1 });
      await siege.flood(PEERS, async (peer) => void (await peer.closed), {
        claim: better(),
        onFrame: ({ command, payload: request }, peer) => {
          if (command === commands.requestChain) void peer.send(frame(commands.chain, payload));
          if (command === commands.requestBlocks)
            void peer.send(frame(commands.blocks, garbageBlocks(request.length)));
        },
      });
    },
  },
  {
    name: "peer-garbage-blocks",
    by: "peer",
    does: "requested blocks come as megabytes of random bytes",
    stands: "answers that are no blocks",
    mustGo: true,
    async run(siege) {
      const payload = lyingChain(siege, 1000);
      const garbage = garbageBlocks(siege.sized(2_000_000, 200_000));
      await siege.flood(PEERS, async (peer) => void (await peer.closed), {
        claim: better(),
        onFrame: ({ command }, peer) => {
          if (command === commands.requestChain) void peer.send(frame(commands.chain, payload));
          if (command === commands.requestBlocks) void peer.send(frame(commands.blocks, garbage));
        },
      });
    },
  },
  {
    name: "peer-unasked-answers",
    by: "peer",
    does: "chains and blocks that nobody asked for",
    stands: "answers without a question",
    mustGo: true,
    async run(siege) {
      const chain = frame(commands.chain, lyingChain(siege, 5000));
      const blocks = frame(commands.blocks, garbageBlocks(1_000_000));
      await siege.flood(PEERS, async (peer, turn) => {
        await peer.send(turn % 2 === 0 ? chain : blocks);
        await peer.closed;
      });
    },
  },
  {
    name: "peer-changing-claims",
    by: "peer",
    does: "hundreds of timed syncs a second, each with another chain, each better than the last",
    stands: "claims that cost nothing and set us working",
    async run(siege) {
      await siege.flood(PEERS, async (peer, turn) => {
        const claim = { ...better(), height: 1000 + turn, difficulty: (1n << 100n) + BigInt(turn) };
        await peer.send(requestFrame(commands.timedSync, message(claimEntry(claim))));
      });
    },
  },
  {
    name: "peer-branch-offers",
    by: "peer",
    does: "peers claim a better branch from far below the top and send its blocks one by one, each with its work",
    stands: "far branches that must be kept until they are decided",
    async run(siege) {
      await siege.flood(4, async (peer, turn) => {
        const height = 100 + (turn % 300);
        const block = forgedBlock(siege.chain, height, {});
        await peer.send(frame(commands.newBlock, blockPayload(block, [], 30_000)));
      });
    },
  },
];

/** An answer of one block of that many bytes, none of which means anything. */
function garbageBlocks(bytes: number): Buffer {
  const entry = fields(stringEntry("block", randomBytes(bytes)), stringsEntry("txs", []));
  return message(
    arrayEntry("blocks", tags.object, { count: 1, bytes: entry }),
    uint64Entry("current_blockchain_height", 30_000n),
  );
}
