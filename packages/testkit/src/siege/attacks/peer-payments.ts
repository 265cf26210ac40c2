import { call } from "@anulo/devnet";
import type { Attack } from "../attack.ts";
import {
  altered,
  minedPayments,
  transactionsPayload,
  waitingPayments,
  withWrongProof,
} from "../hostile-data.ts";
import { commands, frame } from "../hostile-peer.ts";

const PEERS = 8;
const POOL_BYTES = 60_000;

/** Transactions that cost their sender nothing. */
export const paymentAttacks: Attack[] = [
  {
    name: "peer-double-spends",
    by: "peer",
    does: "payments of coins that are spent, each a little different",
    stands: "refusals that cost us and not the sender",
    async run(siege) {
      const mined = minedPayments(siege.chain);
      await siege.flood(PEERS, async (peer, turn) => {
        const payload = transactionsPayload([altered(mined[turn % mined.length]!)]);
        await peer.send(frame(commands.newTransactions, payload));
      });
    },
  },
  {
    name: "peer-wrong-signatures",
    by: "peer",
    does: "payments of unspent coins whose signatures are of another transaction",
    stands: "proofs that must be checked to be found wrong",
    mustGo: true,
    async run(siege) {
      const waiting = waitingPayments(siege.chain);
      await siege.flood(PEERS, async (peer, turn) => {
        const payload = transactionsPayload([altered(waiting[turn % waiting.length]!)]);
        await peer.send(frame(commands.newTransactions, payload));
      });
    },
  },
  {
    name: "peer-wrong-range-proofs",
    by: "peer",
    does: "messages of 100 payments with a bit changed in their range proofs",
    stands: "batches of wrong proofs, which cost more to take apart than to send",
    mustGo: true,
    async run(siege) {
      const waiting = waitingPayments(siege.chain);
      await siege.flood(PEERS, async (peer) => {
        const payload = transactionsPayload(waiting.slice(0, 100).map(withWrongProof));
        await peer.send(frame(commands.newTransactions, payload));
      });
    },
  },
  {
    name: "peer-cheap-pool",
    by: "peer",
    does: "every valid payment there is, from many peers, to a pool that has room for a third of them",
    stands: "a pool full of cheap payments",
    target: { extra: ["--max-txpool-weight", `${POOL_BYTES}`] },
    async run(siege) {
      const waiting = waitingPayments(siege.chain);
      await siege.flood(PEERS, async (peer, turn) => {
        const at = (turn * 5) % waiting.length;
        await peer.send(frame(commands.newTransactions, transactionsPayload(waiting.slice(at, at + 5))));
      });
      const { pool_stats } = await call(siege.target.url, "get_txpool_statistics", {}).catch(() => ({
        pool_stats: {},
      }));
      const bytes = Number((pool_stats as { bytes_total?: unknown }).bytes_total ?? 0);
      if (bytes > 2 * POOL_BYTES) throw new Error(`the pool has ${bytes} bytes`);
    },
  },
];
