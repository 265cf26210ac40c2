import { randomBytes } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import type { Attack } from "../attack.ts";
import { altered, blockPayload, forgedBlock, minedPayments, recordedId } from "../hostile-data.ts";
import { commands, frame } from "../hostile-peer.ts";
import { boolEntry, message, stringEntry, uint64Entry } from "../portable-bytes.ts";
import type { Siege } from "../siege.ts";

const FLUFFY_BYTES = 3_900_000;

/** Altered payments, as many as fill so many bytes. */
function paymentsOf(siege: Siege, bytes: number): Uint8Array[] {
  const mined = minedPayments(siege.chain);
  const blobs: Uint8Array[] = [];
  for (let sum = 0, i = 0; ; i++) {
    const blob = altered(mined[i % mined.length]!);
    sum += blob.length + 8;
    if (sum > bytes) return blobs;
    blobs.push(blob);
  }
}

const topOf = (siege: Siege) => siege.chain.blocks.length;

/** Blocks, and requests for blocks. */
export const blockAttacks: Attack[] = [
  {
    name: "peer-unfinished-blocks",
    by: "peer",
    does: "new blocks of 4 MB from many peers, all transactions there but one, no proof of work",
    stands: "what waits for more is kept before anything of it is checked",
    async run(siege) {
      const txs = paymentsOf(siege, siege.sized(FLUFFY_BYTES, FLUFFY_BYTES / 4));
      const peers = await siege.meetMany(siege.sized(40, 12));
      for (const peer of peers) {
        const previousId = recordedId(siege.chain, topOf(siege));
        const block = forgedBlock(siege.chain, topOf(siege), { previousId, transactions: txs, missing: 1 });
        await Promise.race([
          peer.send(frame(commands.newFluffyBlock, blockPayload(block, txs, topOf(siege) + 2))),
          siege.end(),
        ]);
      }
      await siege.end();
    },
  },
  {
    name: "peer-whole-blocks",
    by: "peer",
    does: "blocks in the old form, of 20 MB, that follow no block we have",
    stands: "blocks parsed whole before their header is looked at",
    async run(siege) {
      const txs = paymentsOf(siege, siege.sized(20_000_000, 3_000_000));
      const forge = () => {
        const previousId = new Uint8Array(randomBytes(32));
        const block = forgedBlock(siege.chain, topOf(siege), { previousId, transactions: txs });
        return frame(commands.newBlock, blockPayload(block, txs, topOf(siege) + 2));
      };
      // One a turn of the event loop, which also sees when honest blocks arrive.
      let last: Promise<unknown> = Promise.resolve();
      await siege.flood(8, async (peer) => {
        const forged = last.then(() => setImmediate()).then(forge);
        last = forged;
        await peer.send(await forged);
      });
    },
  },
  {
    name: "peer-orphans",
    by: "peer",
    does: "small blocks whose parents nobody has, hundreds a second",
    stands: "orphans that make the node ask for a chain",
    async run(siege) {
      await siege.flood(8, async (peer) => {
        const block = forgedBlock(siege.chain, topOf(siege), { previousId: new Uint8Array(randomBytes(32)) });
        await peer.send(frame(commands.newFluffyBlock, blockPayload(block, [], topOf(siege) + 2)));
      });
    },
  },
  {
    name: "peer-side-blocks",
    by: "peer",
    does: "blocks beside the chain, with proof of work, on every height far below the top",
    stands: "side chains that are kept for ever",
    async run(siege) {
      await siege.flood(8, async (peer, turn) => {
        const height = 1 + ((turn * 7) % 400);
        const block = forgedBlock(siege.chain, height, {});
        await peer.send(frame(commands.newFluffyBlock, blockPayload(block, [], height + 1)));
      });
    },
  },
  {
    name: "peer-future-blocks",
    by: "peer",
    does: "blocks on the top with timestamps of years to come and of 1970",
    stands: "blocks that break a rule of their header",
    mustGo: true,
    async run(siege) {
      await siege.flood(8, async (peer, turn) => {
        const timestamp = turn % 2 === 0 ? 4_000_000_000 : 1;
        const previousId = recordedId(siege.chain, topOf(siege));
        const block = forgedBlock(siege.chain, topOf(siege), { previousId, timestamp });
        await peer.send(frame(commands.newFluffyBlock, blockPayload(block, [], topOf(siege) + 2)));
        await peer.closed;
      });
    },
  },
  {
    name: "peer-block-requests",
    by: "peer",
    does: "60 peers request the block with most payments, 100 times in a message, again and again, and read nothing",
    stands: "responses larger than their requests; repeated ids",
    async run(siege) {
      const sizes = siege.chain.blocks.map(({ txs }) => txs.length);
      const height = 1 + sizes.indexOf(sizes.reduce((a, b) => Math.max(a, b)));
      const ids = Buffer.concat(Array.from({ length: 100 }, () => recordedId(siege.chain, height)));
      const payload = message(stringEntry("blocks", ids), boolEntry("prune", false));
      await siege.flood(siege.sized(60, 20), async (peer) => {
        peer.stopReading();
        await peer.send(frame(commands.requestBlocks, payload));
      });
    },
  },
  {
    name: "peer-different-requests",
    by: "peer",
    does: "60 peers request 100 different blocks in a message, again and again, and read nothing",
    stands: "honest requests at a rate no honest peer has",
    async run(siege) {
      await siege.flood(siege.sized(60, 20), async (peer, turn) => {
        peer.stopReading();
        const from = 1 + ((turn * 13) % 390);
        const ids = Buffer.concat(Array.from({ length: 100 }, (_, i) => recordedId(siege.chain, from + i)));
        await peer.send(
          frame(commands.requestBlocks, message(stringEntry("blocks", ids), boolEntry("prune", false))),
        );
      });
    },
  },
  {
    name: "peer-chain-requests",
    by: "peer",
    does: "60 peers request the chain after the first block without end, each with 16,000 ids nobody has before it",
    stands: "look-ups that a request asks for in thousands",
    async run(siege) {
      const unknown = randomBytes(32 * siege.sized(16_000, 4000));
      const ids = Buffer.concat([unknown, recordedId(siege.chain, 1)]);
      const payload = message(stringEntry("block_ids", ids), boolEntry("prune", false));
      await siege.flood(siege.sized(60, 20), async (peer) => {
        await peer.send(frame(commands.requestChain, payload));
      });
    },
  },
  {
    name: "peer-missing-requests",
    by: "peer",
    does: "requests for the transactions of a block, one index 100,000 times over",
    stands: "repeated indices; notifications that nobody counts",
    async run(siege) {
      const sizes = siege.chain.blocks.map(({ txs }) => txs.length);
      const height = 1 + sizes.indexOf(sizes.reduce((a, b) => Math.max(a, b)));
      const payload = message(
        stringEntry("block_hash", recordedId(siege.chain, height)),
        uint64Entry("current_blockchain_height", 500n),
        stringEntry("missing_tx_indices", Buffer.alloc(8 * 100_000)),
      );
      await siege.flood(20, async (peer) => peer.send(frame(commands.requestMissing, payload)));
    },
  },
  {
    name: "peer-pool-complements",
    by: "peer",
    does: "requests for what is in the pool beside 100,000 ids that nobody has, without end",
    stands: "long lists that have to be compared with ours",
    async run(siege) {
      const payload = message(stringEntry("hashes", randomBytes(32 * 100_000)));
      await siege.flood(20, async (peer) => {
        peer.stopReading();
        await peer.send(frame(commands.poolComplement, payload));
      });
    },
  },
];
