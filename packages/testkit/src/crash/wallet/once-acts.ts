import { type ExactObject, formatExact } from "@anulo/devnet";
import { type Act, text } from "./acts.ts";
import { demand, listOf, type Stage } from "./stage.ts";

/** More than one transaction has room for. */
const MANY = 17;

const everything = { in: true, pool: true };

/** What bob has received in these transactions. */
async function receivedIn({ world }: Stage, ids: readonly string[]): Promise<bigint> {
  await world.bob.ask("refresh");
  const { in: mined, pool } = await world.bob.ask("get_transfers", everything);
  const entries = [mined, pool].flatMap(listOf).filter(({ txid }) => ids.includes(text(txid)));
  return entries.reduce((sum, { amount }) => sum + BigInt(text(amount)), 0n);
}

async function balanceOf({ ask }: Stage): Promise<bigint> {
  return BigInt(text((await ask("get_balance")).balance));
}

/** A caller with a key, who just asks again: what it asked for is done once, and the answer is the same ever after. */
function once(method: string, count: number): Act {
  let before = 0n;
  const paramsOf = ({ payment, round }: Stage): ExactObject => {
    const [destination] = listOf(payment.destinations);
    const destinations = Array.from({ length: count }, () => ({ ...destination! }));
    return { destinations, idempotency_key: `round-${round}` };
  };
  return {
    async prepare(stage) {
      await stage.open("alice");
      before = await balanceOf(stage);
    },
    work: (stage) => stage.ask(method, paramsOf(stage)),
    async check(stage) {
      await stage.open("alice");
      const answer = await stage.ask(method, paramsOf(stage));
      const again = await stage.ask(method, paramsOf(stage));
      demand(formatExact(again) === formatExact(answer), "the same call was answered differently");
      const ids = [answer.tx_hash_list ?? [answer.tx_hash]].flat().map(text);
      const fees = [answer.fee_list ?? [answer.fee]].flat().map((fee) => BigInt(text(fee)));
      const paid = stage.amount * BigInt(count);
      // Of what is spent twice the wallet would lack twice as much.
      const spent = before - (await balanceOf(stage));
      demand(spent === fees.reduce((sum, fee) => sum + fee, paid), `the wallet lacks ${spent} after ${paid}`);
      await stage.mine();
      await stage.ask("refresh");
      const received = await receivedIn(stage, ids);
      demand(received === paid, `${paid} was to be paid, ${received} was received`);
      const { state } = await stage.ask("get_intent", { idempotency_key: `round-${stage.round}` });
      demand(state === "mined", `a payment that was mined is ${state}`);
    },
  };
}

export const onceActs = {
  transfer: once("transfer", 1),
  transferSplit: once("transfer_split", MANY),
} as const;
