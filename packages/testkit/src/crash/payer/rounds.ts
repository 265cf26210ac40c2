import { type ExactObject, formatExact } from "@anulo/devnet";
import { type Chance, createChance } from "../chance.ts";
import { demand, listOf } from "../wallet/stage.ts";
import { payUntilAnswered } from "./payer.ts";
import { PayerWorld } from "./world.ts";

export type PayerOptions = {
  readonly rounds: number;
  readonly seed: string;
  /** Number of payers that share the rounds (1), each with a chain, a node and a wallet service of its own. */
  readonly payers?: number;
  /** Called after every round. */
  readonly onRound?: (roundsDone: number, attempts: number) => void;
};

export type PayerReport = {
  readonly payments: number;
  readonly transactions: number;
  /** Calls, the answered ones included. */
  readonly attempts: number;
  /** How often each thing went wrong. */
  readonly mishaps: ReadonlyMap<string, number>;
};

/** One payment to an address of its own. */
type Plan = {
  readonly round: number;
  readonly address: string;
  readonly minor: number;
  readonly chance: Chance;
};
type Outcome = {
  readonly ids: readonly string[];
  readonly attempts: number;
  readonly mishaps: readonly string[];
};

const AMOUNT = 1_000_000_000n;
/** More than one transaction has room for. */
const MANY = 17;

const idsOf = ({ tx_hash, tx_hash_list }: ExactObject): string[] =>
  tx_hash_list === undefined ? [String(tx_hash)] : (tx_hash_list as string[]);

const destinationsOf = (address: string, count: number) =>
  Array.from({ length: count }, () => ({ address, amount: AMOUNT }));

/** Repeated once it was answered, a call has the same answer. */
async function checkRepeated(world: PayerWorld, method: string, params: ExactObject, answer: ExactObject) {
  await world.revive();
  const again = formatExact(await world.ask(method, params));
  demand(again === formatExact(answer), `${method} was answered\n${formatExact(answer)}\nthen\n${again}`);
}

/** Pays in one of the ways there are; answers what was paid as well. */
async function pay(world: PayerWorld, { round, address, chance }: Plan): Promise<Outcome & { paid: bigint }> {
  const way = chance.pick(["transfer", "transfer", "transfer_split", "relay_tx"] as const);
  const count = way === "transfer_split" ? MANY : 1;
  const params = { destinations: destinationsOf(address, count) };
  const paid = AMOUNT * BigInt(count);
  const key = `round-${round}`;
  if (way !== "relay_tx") {
    const { answer, ...counts } = await payUntilAnswered(world, { key, method: way, params }, chance);
    await checkRepeated(world, way, { ...params, idempotency_key: key }, answer);
    return { ids: idsOf(answer), paid, ...counts };
  }
  const unsentParams = { ...params, do_not_relay: true, get_tx_metadata: true };
  const draft = await payUntilAnswered(
    world,
    { key: `${key}-made`, method: "transfer", params: unsentParams },
    chance,
  );
  const relayed = { hex: String(draft.answer.tx_metadata) };
  const { answer, ...counts } = await payUntilAnswered(world, { key, method: way, params: relayed }, chance);
  demand(
    idsOf(answer).join() === idsOf(draft.answer).join(),
    "another transaction was relayed than was made",
  );
  await checkRepeated(world, way, { ...relayed, idempotency_key: key }, answer);
  const attempts = draft.attempts + counts.attempts;
  return { ids: idsOf(answer), paid, attempts, mishaps: [...draft.mishaps, ...counts.mishaps] };
}

/** What an address was paid: the ids, and the sum. */
async function received(world: PayerWorld, minor: number): Promise<{ ids: string[]; sum: bigint }> {
  await world.receiver("refresh");
  const filter = { in: true, pool: true, account_index: 0, subaddr_indices: [minor] };
  const { in: mined, pool } = await world.receiver("get_transfers", filter);
  const entries = [mined, pool].flatMap(listOf);
  return {
    ids: entries.map(({ txid }) => String(txid)).sort(),
    sum: entries.reduce((sum, { amount }) => sum + BigInt(String(amount)), 0n),
  };
}

async function playRound(world: PayerWorld, round: number, chance: Chance): Promise<Outcome> {
  await world.revive();
  await world.ask("refresh");
  const { address, address_index } = await world.receiver("create_address", { account_index: 0 });
  const minor = Number(address_index);
  const { paid, ...outcome } = await pay(world, { round, address: String(address), minor, chance });
  await world.revive();
  await world.ask("refresh");
  await world.mine();
  await world.ask("refresh");
  const receivedIds = await received(world, minor);
  const expected = [...outcome.ids].sort();
  demand(
    receivedIds.ids.join() === expected.join() && receivedIds.sum === paid,
    `${paid} was asked for and answered with ${expected}, received was ${receivedIds.sum} with ${receivedIds.ids}`,
  );
  const { state } = await world.ask("get_intent", { idempotency_key: `round-${round}` });
  demand(state === "mined", `a payment that was mined is ${state}`);
  return outcome;
}

/** Nothing was paid that no round asked for, however late it came. */
async function checkTotals(world: PayerWorld, transactions: number): Promise<void> {
  await world.mine(10);
  await world.ask("refresh");
  await world.receiver("refresh");
  const { in: mined, pool } = await world.receiver("get_transfers", { in: true, pool: true });
  const ids = new Set([mined, pool].flatMap(listOf).map(({ txid }) => String(txid)));
  demand(ids.size === transactions, `${ids.size} transactions were received, ${transactions} answered`);
  const { out, pending, failed } = await world.ask("get_transfers", {
    out: true,
    pending: true,
    failed: true,
  });
  const [sent, waiting, lost] = [out, pending, failed].map((list) => listOf(list).length);
  demand(
    sent === transactions && waiting === 0 && lost === 0,
    `the wallet lists ${sent} payments sent, ${waiting} pending and ${lost} failed, of ${transactions}`,
  );
}

/**
 * Payers who repeat every call until it is answered, while service, node and the lines between them break at random
 * moments and bytes: each payment is made once, every answer and refusal names its transactions. What happens in a round
 * follows from the seed and its number, whoever plays it. Rejects with the first failure, once all payers have stopped.
 */
export async function runPayerRounds({
  rounds,
  seed,
  payers = 1,
  onRound,
}: PayerOptions): Promise<PayerReport> {
  const mishaps = new Map<string, number>();
  let [payments, transactions, attempts] = [0, 0, 0];
  let roundsStarted = 0;
  const failures: unknown[] = [];
  const playRounds = async (world: PayerWorld) => {
    let ofWorld = 0;
    while (roundsStarted < rounds && failures.length === 0) {
      const round = ++roundsStarted;
      const outcome = await playRound(world, round, createChance(`${seed} ${round}`)).catch(
        (error: unknown) => {
          throw new Error(`round ${round}: ${String(error)}`, { cause: error });
        },
      );
      payments += 1;
      ofWorld += outcome.ids.length;
      attempts += outcome.attempts;
      for (const name of outcome.mishaps) mishaps.set(name, (mishaps.get(name) ?? 0) + 1);
      onRound?.(payments, outcome.attempts);
    }
    if (failures.length === 0) await checkTotals(world, ofWorld);
    transactions += ofWorld;
  };
  const playInWorld = async () => {
    const world = await PayerWorld.create();
    try {
      await playRounds(world);
    } finally {
      await world.stop();
    }
  };
  await Promise.all(
    Array.from({ length: payers }, () => playInWorld().catch((error: unknown) => void failures.push(error))),
  );
  if (failures.length > 0) throw failures[0];
  return { payments, transactions, attempts, mishaps };
}
