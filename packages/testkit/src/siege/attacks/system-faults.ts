import { call, post } from "@anulo/devnet";
import { topHash } from "../../load-chain.ts";
import { until } from "../../until.ts";
import type { Attack } from "../attack.ts";
import { transactionsPayload, waitingPayments } from "../hostile-data.ts";
import { commands, frame } from "../hostile-peer.ts";

const BACK_WITHIN_MS = 60_000;
const DESCRIPTORS = 160;
const JUMP_AFTER_MS = 6000;
const clockModule = (jumpSeconds: number) => [
  "--import",
  `data:text/javascript,const now=Date.now.bind(Date),begin=performance.now(),jump=()=>performance.now()-begin>${JUMP_AFTER_MS}?${jumpSeconds * 1000}:0;Date.now=()=>now()+jump();const Old=Date;globalThis.Date=class extends Old{constructor(...a){a.length===0?super(Date.now()):super(...a)}}`,
];

/** A node whose clock jumps while it is attacked by payments. */
function clockAttack(name: string, jumpSeconds: number): Attack {
  return {
    name,
    by: "system",
    does: `the system's clock jumps by ${jumpSeconds} seconds while payments arrive`,
    stands: "time that does not go on evenly",
    target: { nodeFlags: clockModule(jumpSeconds) },
    watchSeconds: 4,
    async run(siege) {
      const waiting = waitingPayments(siege.chain);
      await siege.flood(2, async (peer, turn) => {
        await peer.send(
          frame(commands.newTransactions, transactionsPayload([waiting[turn % waiting.length]!])),
        );
        await Promise.race([siege.end(), new Promise((resolve) => setTimeout(resolve, 100))]);
      });
    },
  };
}

/** Work of the owner's that holds other work up if it is not cut into slices. */
const busyAttacks: Attack[] = [
  {
    name: "busy-reorganising",
    by: "system",
    does: "a branch from 100 blocks below the top is mined until it is the chain",
    stands: "reorganisations that hold up everything else",
    async run(siege) {
      const { target, chain } = siege;
      const depth = siege.sized(100, 20);
      const { height } = await call(target.url, "get_info");
      const start = { height: Number(height) - 1 - depth };
      const { block_header } = await call(target.url, "get_block_header_by_height", start);
      let previous = String((block_header as { hash: string }).hash);
      const order = { amount_of_blocks: 1, wallet_address: chain.wallets.alice.address };
      for (let mined = 0; mined < 2 * depth; mined++) {
        const { blocks } = await call(target.url, "generateblocks", { ...order, prev_block: previous });
        previous = String((blocks as string[])[0]);
        if ((await topHash(target.url)) === previous) return;
      }
      throw new Error("the branch did not become the chain");
    },
  },
  {
    name: "busy-popping",
    by: "system",
    does: "1,000 blocks are mined, popped and fetched again from the honest peer",
    stands: "long work of the owner's that holds up everything else",
    watchSeconds: 5,
    async run(siege) {
      const { target, honest, chain } = siege;
      const blocks = siege.sized(1000, 50);
      const order = { amount_of_blocks: blocks, wallet_address: chain.wallets.alice.address };
      await call(target.url, "generateblocks", order);
      const before = Number((await call(target.url, "get_info")).height);
      // Whoever is still fetching blocks that are popped meanwhile rightly loses the connection.
      const isFetched = async () => Number((await call(honest.url, "get_info")).height) >= before;
      if (!(await until(isFetched, BACK_WITHIN_MS)))
        throw new Error("the mined blocks did not reach the peer");
      await post(`${target.url}/pop_blocks`, { nblocks: blocks });
      const isBack = async () => Number((await call(target.url, "get_info")).height) >= before;
      if (!(await until(isBack, BACK_WITHIN_MS))) throw new Error("the popped blocks did not come back");
    },
  },
];

/** What is below the node fails it while it runs. */
export const systemAttacks: Attack[] = [
  ...busyAttacks,
  clockAttack("clock-backwards", -7200),
  clockAttack("clock-forwards", 86_400),
  {
    name: "few-descriptors",
    by: "system",
    does: `a node that may open ${DESCRIPTORS} files gets hundreds of connections, from peers and callers`,
    stands: "limits of the system that strangers can reach",
    target: { shellLimit: `ulimit -n ${DESCRIPTORS}` },
    async run(siege) {
      for (let i = 0; i < siege.sized(150, 100) && !siege.isOver; i++) {
        await Promise.race([Promise.all([siege.meet(), siege.caller()]), siege.end()]);
      }
      await siege.end();
    },
  },
];
