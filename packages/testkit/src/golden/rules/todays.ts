import { type Exact, type ExactObject, isExactObject } from "@anulo/devnet";
import type { Context } from "../context.ts";
import { type GoldenAnswer, loadRecording } from "../recording.ts";
import { inJson, inMember, inResult, paramsOf, type Rule, refused } from "../rule.ts";

const release = "0.18.0";

/** What 0.18.5 answered to the same request. */
function answerSince(_: GoldenAnswer, { group, step }: Context): GoldenAnswer {
  const sameStep = loadRecording(group, "0.18.5").steps.find(({ id }) => id === step.id);
  if (sameStep === undefined) throw new Error(`${step.id} was not asked of 0.18.5`);
  return sameStep.answer;
}

/** Whether parameters were understood, whatever came of them. */
function isUnderstood(actual: Exact): boolean {
  const error = isExactObject(actual) ? actual.error : undefined;
  return !isExactObject(error) || error.code !== -32602;
}

/** Whether a step asks a node. */
const asksNode = ({ step }: Context): boolean => step.to === "node" || step.to === "restricted";

/** Limits that nobody set, of that release and of today's, in kB per second. */
const limitsSince = { limit_up: [2048, 8192], limit_down: [8192, 32_768] } as const;

function withLimitsSince(answer: ExactObject): ExactObject {
  const changed = Object.entries(limitsSince).map(([name, [before, since]]) => [
    name,
    answer[name] === before ? since : answer[name]!,
  ]);
  return { ...answer, ...Object.fromEntries(changed) };
}

const named = (it: ExactObject): ExactObject =>
  it.version === "0.18.0.0-unknown" ? { ...it, version: "0.18.5.3-unknown" } : it;

/** The book with one entry less: the one that a number in a text deleted. */
function withoutDeleted(result: ExactObject): ExactObject {
  const { entries } = result;
  if (!Array.isArray(entries)) return result;
  const rest = entries.slice(1).map((entry, index) => (isExactObject(entry) ? { ...entry, index } : entry));
  return { ...result, entries: rest };
}

/** The book after an edit that names its entry, the second, by a number in a text. */
const asEdited = (entry: ExactObject): ExactObject =>
  entry.index === 1 ? { ...entry, description: "me" } : entry;

/** The book whose second entry has the address of the third. */
function withIntegrated(result: ExactObject): ExactObject {
  const entries = Array.isArray(result.entries) ? result.entries.filter(isExactObject) : [];
  const { address } = entries[2]!;
  return { ...result, entries: entries.with(1, { ...entries[1]!, address: address! }) };
}

/** Outputs of a transaction besides its change. */
const MAX_DESTINATIONS = 15;

/** Amounts a transfer was asked for, by transaction, in the order of its outputs: the first, then the others backwards. */
function askedAmounts(context: Context): Exact[][] {
  const { destinations } = paramsOf(context);
  const amounts = (Array.isArray(destinations) ? destinations : [])
    .filter(isExactObject)
    .map((it) => it.amount!);
  const inOrder = [...amounts.slice(0, 1), ...amounts.slice(1).reverse()];
  const lists: Exact[][] = [];
  for (let at = 0; at < inOrder.length; at += MAX_DESTINATIONS)
    lists.push(inOrder.slice(at, at + MAX_DESTINATIONS));
  return lists;
}

/** Amounts of a sweep: the sum of each transaction shared among its outputs, what is left over to the first ones. */
function sweptAmounts({ amount, amount_list: list }: ExactObject, context: Context): Exact[][] {
  const { outputs } = paramsOf(context);
  const count = typeof outputs === "number" ? BigInt(outputs) : 1n;
  return (Array.isArray(list) ? list : [amount!]).map((sum) => {
    const share = BigInt(Number(sum)) / count;
    const remainder = BigInt(Number(sum)) % count;
    return Array.from({ length: Number(count) }, (_, i) =>
      Number(BigInt(i) < remainder ? share + 1n : share),
    );
  });
}

function withDestinations(result: ExactObject, amounts: readonly Exact[][]): ExactObject {
  const amountLists = amounts.map((list) => ({ amounts: list }));
  return result.amount_list === undefined
    ? { ...result, amounts_by_dest: amountLists[0]! }
    : { ...result, amounts_by_dest_list: amountLists };
}

const isHash = (value: Exact): boolean => /^[0-9a-f]{64}$/.test(String(value));

/** Fees per byte of the recorded chain, in atomic units, by priority. */
const recordedFees = [1_200_000n, 4_700_000n, 19_000_000n, 240_000_000n];

/** Whether a fee is that of some weight, and less by a little than the one of the weight a payment was estimated to have. */
function isOfFinalWeight(actual: Exact, recorded: Exact): boolean {
  if (actual === recorded) return true;
  const [paid, estimated] = [BigInt(String(actual)), BigInt(String(recorded))];
  const isClose = paid < estimated && 100n * paid > 98n * estimated;
  return isClose && recordedFees.some((perByte) => paid % perByte === 0n);
}

/** Whether a balance is greater by what a few dozen bytes cost. */
const hasPaidLess = (actual: Exact, recorded: Exact): boolean => {
  const gained = BigInt(String(actual)) - BigInt(String(recorded));
  return gained > 0n && gained < 40n * recordedFees[0]!;
};

const isSameOrPaidLess = (actual: Exact, recorded: Exact): boolean =>
  actual === recorded || hasPaidLess(actual, recorded);

const isCount = (value: Exact | undefined): boolean =>
  typeof value === "bigint" || (typeof value === "number" && Number.isSafeInteger(value) && value >= 0);

/** Outputs that a transaction spends, each with its key and commitment. */
function areSources(actual: Exact): boolean {
  if (!Array.isArray(actual) || actual.length === 0) return false;
  return actual.filter(isExactObject).every(({ amount, global_index, pubkey, rct, ...more }) => {
    const isKnown = isCount(amount) && isCount(global_index) && rct === true;
    return isKnown && /^[0-9a-f]{128}$/.test(String(pubkey)) && Object.keys(more).length === 0;
  });
}

/** Of a transaction with one input and two outputs. */
const isWeight = (actual: Exact): boolean => Number(actual) >= 1500 && Number(actual) < 1520;

/** What 0.18.0.0 answered and today's release, 0.18.5.3, does not any more. */
export const todays: readonly Rule[] = [
  {
    id: /^(on_get_block_hash:string|(?!label|set_tx)\w+:(reserve_size|index|amount|unlock_time|below_amount|(start|end|from|to|min|max|min_block)_height|height|(min_|max_)?count|recent_cutoff|grace_blocks) is numstring)$/,
    release: "0.18.5",
    why: "a text of digits is a number for fields of 64 bits, as until 0.18.5: clients send amounts so",
    change: (answer) => answer,
    holds: { ".json": isUnderstood },
  },
  {
    id: /^((transfer|transfer_split|get_transfers):|get_transfer_by_txid)/,
    release,
    why: "the fee paid is that of the final weight, no longer of the estimated one (#8882)",
    change: (answer) => answer,
    holds: Object.fromEntries(
      [
        ...["fee", "fee_list[]", "transfer.fee", "transfers[].fee"],
        ...["in", "out", "pool", "pending"].map((list) => `${list}[].fee`),
      ].map((path) => [`.json.result.${path}`, isOfFinalWeight]),
    ),
  },
  {
    id: /^describe_transfer$/,
    release,
    why: "the fee paid is that of the final weight, no longer of the estimated one (#8882)",
    change: (answer) => answer,
    holds: Object.fromEntries(
      ["desc[]", "summary"].flatMap((part) => [
        [`.json.result.${part}.fee`, isOfFinalWeight],
        [`.json.result.${part}.amount_out`, isSameOrPaidLess],
        [`.json.result.${part}.change_amount`, isSameOrPaidLess],
      ]),
    ),
  },
  {
    id: /^describe_transfer/,
    release,
    why: "describe_transfer: tells which outputs are spent (#10380), and what a multisig set weighs (#11046)",
    change: (answer, { group }) =>
      inResult(answer, (result) =>
        inMember(result, "desc", (it) => {
          const weight = group === "wallet_multisig" ? { weight: 0 } : {};
          return { ...it, sources: ["one an input"], ...weight };
        }),
      ),
    holds: { ".json.result.desc[].sources": areSources, ".json.result.desc[].weight": isWeight },
  },
  {
    id: /^import_outputs$/,
    release,
    why: "import_outputs: a wallet that has scanned takes none",
    change: answerSince,
  },
  {
    id: /^get_balance:after relaying$/,
    release,
    why: "the fee paid is that of the final weight, no longer of the estimated one (#8882)",
    change: (answer) => answer,
    holds: { ".json.result.balance": hasPaidLess, ".json.result.per_subaddress[].balance": isSameOrPaidLess },
  },
  {
    id: /^get_address_book:edited$/,
    release: "0.18.5",
    why: "address book: a number in a text has named the second entry",
    change: (answer) => inResult(answer, (it) => inMember(it, "entries", asEdited)),
  },
  {
    id: /^add_address_book:(without description|description is)/,
    release: "0.18.5",
    why: "address book: one entry less, since a number in a text has deleted one",
    change: (answer) => inResult(answer, (it) => ({ ...it, index: Number(it.index) - 1 })),
  },
  {
    id: /^get_address_book:(without entries|entries is|at the end)/,
    release: "0.18.5",
    why: "address book: one entry less, since a number in a text has deleted one",
    change: (answer) => inResult(answer, withoutDeleted),
  },
  {
    id: /:(set-up|restricted)$/,
    release,
    why: "a restricted wallet service opens no wallet and refuses most calls (3703ec183, e1adf396d)",
    change: (answer, context) =>
      context.group === "wallet_restricted" ? answerSince(answer, context) : answer,
  },
  {
    id: /^finalize_multisig/,
    release,
    why: "finalize_multisig: removed",
    change: (answer) => refused(answer, -32601, "Method not found"),
  },
  {
    id: /^open_wallet/,
    release,
    why: "open_wallet: tells why it failed",
    change: answerSince,
  },
  {
    id: /^open_wallet:(no such file|empty name|without filename|filename is)/,
    release,
    why: "open_wallet: tells which file was not found",
    change: answerSince,
    volatile: [".json.error.message"],
  },
  {
    id: /^(transfer|transfer_split|sweep_all|sweep_single):unlock(_time is numstring| time)$/,
    release,
    why: "unlock times other than 0 are refused (#9311)",
    change: (answer) => refused(answer, -50, "Transaction cannot have non-zero unlock time"),
  },
  {
    id: /^transfer(_split)?\b/,
    release,
    why: "transfers: what each destination gets",
    change: (answer, context) => inResult(answer, (it) => withDestinations(it, askedAmounts(context))),
  },
  {
    id: /^sweep_(all|single)\b/,
    release,
    why: "sweeps: what each output gets",
    change: (answer, context) => inResult(answer, (it) => withDestinations(it, sweptAmounts(it, context))),
  },
  {
    id: /^rescan_spent:untrusted$/,
    release,
    why: "rescan_spent: of a trusted node only",
    change: answerSince,
  },
  {
    id: /^create_address:count/,
    release,
    why: "create_address: up to 65,536 at once",
    change: answerSince,
  },
  {
    id: /^verify/,
    release,
    why: "verify: a bad signature has the type `invalid`",
    change: (answer) =>
      inResult(answer, (it) => (it.good === false ? { ...it, signature_type: "invalid" } : it)),
  },
  {
    id: /^get_address_book:edited$/,
    release,
    why: "edit_address_book: an entry that had no payment id can become an integrated address",
    change: (answer) => inResult(answer, withIntegrated),
  },
  {
    id: /^on_get_block_hash:too high$/,
    release,
    why: "on_get_block_hash: a height above the top is -2, not a hash of zeros",
    change: (answer, context) => {
      const { body } = context.step.request;
      const [height] = isExactObject(body) && Array.isArray(body.params) ? body.params : [];
      const message = `Requested block height: ${height} greater than current top block height: ${Number(height) - 1}`;
      return refused(answer, -2, message);
    },
  },
  {
    id: /^(get_info|\/get_?info)/,
    release,
    why: "get_info: the version is today's",
    change: (answer) => inResult(inJson(answer, named), named),
  },
  {
    id: /^get_version/,
    release,
    why: "get_version: 3.16, with the height and the hard forks (#8544); the wallet service's 1.32",
    change: (answer, context) => {
      if (!asksNode(context)) return inResult(answer, (it) => ({ ...it, version: 65568 }));
      const { json } = answerSince(answer, context);
      const result = isExactObject(json) && isExactObject(json.result) ? json.result : {};
      return inResult(answer, (it) => ({ ...result, ...it, version: result.version! }));
    },
  },
  {
    id: /^(\/(get|set)_limit|http:path)/,
    release,
    why: "limits: 8,192 and 32,768 kB per second where none are set (#9771)",
    change: (answer) => inJson(answer, withLimitsSince),
  },
  {
    id: /^(set_bans:(ipv6|no host)|get_bans:at the end)$/,
    release,
    why: "set_bans: addresses of version 6 can be banned; a ban of nobody is refused",
    change: answerSince,
  },
  {
    id: /^\/(is_key_image_spent:short)$/,
    release,
    why: "/is_key_image_spent: a key image of another length is told as one",
    change: answerSince,
  },
  {
    id: /^\/(get_alt_blocks_hashes|get_transaction_pool)\b/,
    release,
    why: "restricted ports: /get_alt_blocks_hashes and /get_transaction_pool are closed (#10973)",
    change: (answer, context) => (context.step.to === "restricted" ? answerSince(answer, context) : answer),
  },
  {
    id: /^\/send_?raw_?transaction/,
    release,
    why: "/send_raw_transaction: tells of unlock times (#9311) and of tx_extra above 1,060 bytes (#8784)",
    change: (answer) =>
      inJson(answer, (it) =>
        it.too_big === undefined ? it : { ...it, nonzero_unlock_time: false, tx_extra_too_big: false },
      ),
  },
  {
    id: /^\/send_raw_transaction:last bytes changed/,
    release,
    why: "/send_raw_transaction: key images of the pool are looked up before any proof is checked",
    change: answerSince,
  },
  {
    id: /^submit_?block/,
    release,
    why: "submit_block: tells the id of the block (#8891)",
    change: (answer) =>
      inResult(answer, (it) => (it.status === "OK" ? { ...it, block_id: "the id of the block" } : it)),
    holds: { ".json.result.block_id": isHash },
  },
];
