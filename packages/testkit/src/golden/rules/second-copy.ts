import { type Exact, type ExactObject, isExactObject } from "@anulo/devnet";
import type { RecordedRelease } from "../../fixtures.ts";
import type { Context } from "../context.ts";
import { type GoldenAnswer, loadRecording } from "../recording.ts";
import { inMember, inResult, type Rule, resulted } from "../rule.ts";

const release = "0.18.0";
const why = "what another copy of the wallet spends is seen while it waits in the pool (#10153)";

/** What waits in the pool of a recorded node, by the wallet of whose seed another copy has sent it. */
const sentIn: { readonly [release in RecordedRelease]: { readonly [wallet: string]: ExactObject } } = {
  "0.18.0": {
    a: {
      address:
        "49hyd11a1bgDmgGmSxMiTqGwD6njnGpT877qjbV8N2uaJXafMZwqJh8ALz4VWz1TRuSgsioiNgiow6i7ETAboAc8TLWVAan",
      amount: 110_401_578_995,
      fee: 2_605_200_000,
      txid: "b58ed0194f8d5026934116d6e352a1f41b20deccb5eb871d86e449d943e9be73",
    },
    b: {
      address:
        "47eZwHG3pxEBooiMXAxG7Yb263NqXKemdEaRRVJ54nfcK9LSCumznJxgUYdbVK2e6ai1pgCJwakVL2fMqcH33EEuStHeS9i",
      amount: 70_372_549_609,
      fee: 41_249_000_000,
      txid: "61ce1dfd404be2b68f442e61a8bc6a2794821082352135208c41c50739ab228a",
    },
  },
  "0.18.5": {
    a: {
      address:
        "41vXSbN5bmagZR4NZwPqZCPnPFZmH4TMM9L9UhEQLTq88sDUr53Ky5P8rMkMb2jVLcbx7xDLS6DijMvJ3fSCqv74M7vvsmF",
      amount: 110_127_272_672,
      fee: 2_599_200_000,
      txid: "4e32e1b84b284baa21ffb932a5c18c492b8038a6c3dbb550633d2ec48254d5a4",
    },
  },
};
const sent = sentIn[release];

/** Key images of the two outputs that wallet "a" has sent, at its first address, and their sum. */
const spent = [
  "3f18e2889ce01ac217cbe8f5b44f4c6e14a4e4b8e4c57c39ed6cd5a9b9959b3d",
  "6213d7724d2533f6c4d58e1ab202fd8220996a348bedc179fbb5d6de85db1eba",
];
const spentAmount = 70_364_986_226_746;
/** What is left once the change is back. */
const sumSpent = Number(sent.a!.amount) + Number(sent.a!.fee);

/** The payment as it waits. */
function waiting({ step, release: recorded }: Context): ExactObject {
  const primary = { major: 0, minor: 0 };
  return {
    ...sentIn[recorded][step.to],
    double_spend_seen: false,
    height: 0,
    locked: true,
    note: "",
    payment_id: "0000000000000000",
    subaddr_index: primary,
    subaddr_indices: [{ major: 0, minor: step.to === "a" ? 0 : 1 }],
    suggested_confirmations_threshold: 1,
    timestamp: 0,
    type: "pending",
    unlock_time: 0,
  };
}

/** An object whose numbers of these names are less by so much. */
function lessBy(it: ExactObject, less: { readonly [name: string]: number }): ExactObject {
  const changed = Object.entries(less).map(([name, by]) => [name, Number(it[name]) - by]);
  return { ...it, ...Object.fromEntries(changed) };
}

const isFirst = (it: ExactObject): boolean => it.account_index === 0 && (it.address_index ?? 0) === 0;
const balances = { balance: sumSpent, unlocked_balance: spentAmount };

/** Balances as they are while it waits; strict ones report what the chain does, but count what waits as spent. */
function withoutSpent(result: ExactObject, isStrict: boolean): ExactObject {
  const counted = { num_unspent_outputs: spent.length };
  const changed = inMember(result, "per_subaddress", (it) =>
    isFirst(it) ? lessBy(it, isStrict ? counted : { ...balances, ...counted }) : it,
  );
  return isStrict ? changed : lessBy(changed, balances);
}

function accountsWithoutSpent(result: ExactObject): ExactObject {
  const changed = inMember(result, "subaddress_accounts", (it) => (isFirst(it) ? lessBy(it, balances) : it));
  return lessBy(changed, { total_balance: sumSpent, total_unlocked_balance: spentAmount });
}

const isSpent = (it: Exact): boolean => isExactObject(it) && spent.includes(String(it.key_image));

/** Outputs of a list of the wallet that are spent, as the list of all returns them. */
function spentOutputs({ group }: Context): Exact[] {
  const { steps } = loadRecording(group, release);
  const all = steps.find(({ id }) => id === "incoming_transfers:all")!.answer.json;
  const result = isExactObject(all) && isExactObject(all.result) ? all.result : {};
  const { transfers } = result;
  return Array.isArray(transfers) ? transfers.filter(isSpent) : [];
}

const place = (it: Exact): number => (isExactObject(it) ? Number(it.global_index) : 0);

function withSpent(answer: GoldenAnswer, context: Context): GoldenAnswer {
  const { id } = context.step;
  return inResult(answer, (result) => {
    const { transfers } = result;
    if (!Array.isArray(transfers)) return result;
    const others = transfers.filter((it) => !isSpent(it));
    const spends = id === "incoming_transfers:available" ? [] : spentOutputs(context);
    const spentTransfers = spends.filter(isExactObject).map((it) => ({ ...it, spent: true }));
    return {
      ...result,
      transfers: [...others, ...spentTransfers].sort((one, other) => place(one) - place(other)),
    };
  });
}

/** What was taken for income, until key images showed that it is change, is shown as such. */
function withoutChange(result: ExactObject, context: Context): ExactObject {
  const payment = waiting(context);
  const { pending, pool } = result;
  const isOther = (it: Exact) => isExactObject(it) && it.txid !== payment.txid;
  return {
    ...result,
    pending: [...(Array.isArray(pending) ? pending : []), payment],
    pool: Array.isArray(pool) ? pool.filter(isOther) : [],
  };
}

/** A payment that waits, of whose destinations nothing is known any more. */
function isForgottenPayment(it: Exact): boolean {
  if (!isExactObject(it) || it.type !== "pending" || it.height !== 0) return false;
  const { destinations = [] } = it;
  return Array.isArray(destinations) && destinations.length === 0;
}

/** Whether a step asks the first wallet, restored with its keys while its payment waits. */
function isFirstWallet({ group, step }: Context): boolean {
  return (group === "wallet_read" && step.to === "a") || step.id === "get_balance:restored";
}

const onlyOfFirstWallet =
  (change: Rule["change"]): Rule["change"] =>
  (answer, context) =>
    isFirstWallet(context) ? change(answer, context) : answer;

/** What is answered as though nothing waited that was not sent by this very wallet. */
export const secondCopy: readonly Rule[] = [
  {
    id: /^get_?balance(:(?!account 1$|no such account$)|$)/,
    release,
    why,
    change: onlyOfFirstWallet((answer, { step: { id } }) =>
      inResult(answer, (it) => withoutSpent(it, id === "get_balance:strict")),
    ),
  },
  {
    id: /^get_accounts(?!:strict)/,
    release,
    why,
    change: onlyOfFirstWallet((answer) => inResult(answer, accountsWithoutSpent)),
  },
  {
    id: /^incoming_transfers:(all|available|unavailable|(without|\w+ is) .*)/,
    release,
    why,
    change: onlyOfFirstWallet(withSpent),
  },
  {
    id: /^get_transfers:(every kind, [ab]|pending|heights .*|from 90|all accounts)$/,
    release,
    why,
    change: (answer, context) => inResult(answer, (it) => ({ ...it, pending: [waiting(context)] })),
    volatile: [".json.result.pending[].timestamp"],
  },
  {
    id: /^get_transfer_by_txid:pool_(a, a|b, b)$/,
    release,
    why,
    change: (answer, context) =>
      resulted(answer, { transfer: waiting(context), transfers: [waiting(context)] }),
    volatile: [".json.result.transfer.timestamp", ".json.result.transfers[].timestamp"],
  },
  {
    id: /^get_transfers:after submitting$/,
    why: "what was seen in the pool before the key images came is recognised once they are there",
    change: (answer, context) =>
      context.group === "wallet_cold" ? inResult(answer, (it) => withoutChange(it, context)) : answer,
    volatile: [".json.result.pending[].timestamp"],
  },
  {
    id: /^get_transfers:after rescan$/,
    release,
    why: "what waits is seen in the pool again after a rescan (#10153)",
    change: (answer) => inResult(answer, (it) => ({ ...it, pending: ["the payment that was swept last"] })),
    holds: {
      ".json.result.pending": (actual) =>
        Array.isArray(actual) && actual.length === 1 && actual.every(isForgottenPayment),
    },
  },
];
