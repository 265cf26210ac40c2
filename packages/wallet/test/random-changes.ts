/** Random changes of every kind, which follow from a seed. */
import { createHash } from "node:crypto";
import { toHex } from "@anulo/protocol";
import type { WalletChange } from "../src/changes.ts";
import type { Ledger } from "../src/ledger/ledger.ts";
import type { OwnedOutput } from "../src/outputs/owned-output.ts";
import type { OutgoingPayment, ScannedTransaction } from "../src/state.ts";

/** Numbers that follow from a seed. */
export class Dice {
  #count = 0;
  readonly #seed: string;

  constructor(seed: string) {
    this.#seed = seed;
  }

  bytes(): Uint8Array {
    return new Uint8Array(
      createHash("sha256")
        .update(`${this.#seed}/${this.#count++}`)
        .digest(),
    );
  }

  below(limit: number): number {
    return Buffer.from(this.bytes()).readUIntBE(0, 6) % limit;
  }

  pick<T>(list: readonly T[]): T | undefined {
    return list[this.below(Math.max(1, list.length))];
  }
}

export type Kind = WalletChange["kind"];
type Make = { readonly [K in Kind]: (dice: Dice, ledger: Ledger) => Extract<WalletChange, { kind: K }> };

const pickOutput = (dice: Dice, { outputs }: Ledger["state"]) =>
  outputs.at(dice.below(Math.max(1, outputs.count)));
const imageOf = (dice: Dice, { state }: Ledger) => pickOutput(dice, state)?.keyImage ?? dice.bytes();
const idOf = (dice: Dice, { state }: Ledger) => dice.pick([...state.outgoing.keys()]) ?? toHex(dice.bytes());

export function scanned(dice: Dice, ledger: Ledger, height: number): ScannedTransaction {
  const received = Array.from({ length: dice.below(4) }, (_, outputIndex) => {
    // Now and then one that burns another.
    const burnt = dice.below(6) === 0 ? pickOutput(dice, ledger.state) : undefined;
    return {
      outputIndex,
      globalIndex: BigInt(dice.below(1000)),
      amount: BigInt(1 + dice.below(1000)),
      mask: dice.bytes(),
      rct: true,
      oneTimeKey: burnt?.oneTimeKey ?? dice.bytes(),
      txPublicKey: dice.bytes(),
      keyImage: burnt === undefined ? dice.bytes() : burnt.keyImage,
      subaddress: { major: dice.below(3), minor: dice.below(150) },
    };
  });
  const spends = dice.below(3) === 0;
  const own = dice.below(3) === 0 ? dice.pick([...ledger.state.outgoing.values()]) : undefined;
  return {
    txHash: own?.txHash ?? dice.bytes(),
    coinbase: false,
    height,
    timestamp: height * 120,
    unlockTime: 0n,
    fee: 1n,
    publicAmountOut: 0n,
    txSize: 1500,
    paymentId: new Uint8Array(32),
    received,
    inputs: (own?.keyImages ?? [spends ? imageOf(dice, ledger) : dice.bytes()]).map((keyImage) => ({
      keyImage,
      amount: 0n,
    })),
  };
}

function payment(dice: Dice, ledger: Ledger): OutgoingPayment {
  return {
    txHash: dice.bytes(),
    state: "signed",
    blob: dice.below(40) === 0 ? new Uint8Array(2_500_000).fill(dice.below(256)) : new Uint8Array(1200),
    amountIn: 5n,
    amountOut: 4n,
    change: 1n,
    destinations: [{ address: "4".repeat(95), amount: 3n }],
    paymentId: new Uint8Array(32),
    account: 0,
    subaddressIndices: [0],
    keyImages: [imageOf(dice, ledger), dice.bytes()],
    unlockTime: 0n,
    createdAt: 1,
    timestamp: 1,
    height: 0,
  };
}

function imported(dice: Dice): OwnedOutput {
  return {
    txHash: dice.bytes(),
    outputIndex: 0,
    globalIndex: 1n,
    amount: 7n,
    mask: dice.bytes(),
    rct: true,
    oneTimeKey: dice.bytes(),
    txPublicKey: dice.bytes(),
    keyImage: undefined,
    subaddress: { major: 0, minor: dice.below(70) },
    height: 0,
    timestamp: 0,
    unlockTime: 0n,
    coinbase: false,
    txSize: 0,
    frozen: false,
    spentHeight: undefined,
    pendingSpend: undefined,
    replaces: undefined,
  };
}

function blocks(dice: Dice, ledger: Ledger): Extract<WalletChange, { kind: "blocks" }> {
  const { height } = ledger.state;
  const fromHeight = dice.below(6) === 0 ? Math.max(1, height - dice.below(400)) : height;
  const count = dice.below(300);
  const transactions: ScannedTransaction[] = [];
  if (count > 0)
    for (let i = dice.below(12); i > 0; i--)
      transactions.push(scanned(dice, ledger, fromHeight + dice.below(count)));
  transactions.sort((a, b) => a.height - b.height);
  const ids = Array.from({ length: count }, () => dice.bytes());
  return { kind: "blocks", fromHeight, count, ids, lastBlockReward: BigInt(dice.below(9)), transactions };
}

const tags = ["", "shop", "till"];

const make: Make = {
  blocks,
  transactions: (dice, ledger) => ({
    kind: "transactions",
    transactions: [scanned(dice, ledger, Math.max(1, dice.below(ledger.state.height)))],
  }),
  reset: (dice) => ({ kind: "reset", hard: dice.below(2) === 0, keepsNotes: dice.below(2) === 0 }),
  outgoing: (dice, ledger) => ({ kind: "outgoing", payment: payment(dice, ledger), txKeys: [dice.bytes()] }),
  outgoingState: (dice, ledger) => ({
    kind: "outgoingState",
    txHash: idOf(dice, ledger),
    state: dice.pick(["pending", "missing", "failed"] as const)!,
    isSeen: dice.below(2) === 0,
  }),
  intent(dice, ledger) {
    const known = dice.below(2) === 0 ? dice.pick(ledger.state.intents) : undefined;
    const head = known ?? { key: toHex(dice.bytes()), asked: dice.bytes(), method: "transfer", createdAt: 1 };
    const { key, asked, method, createdAt } = head;
    const kept = payment(dice, ledger);
    const outcome = { kind: "sending" as const, txHashes: [kept.txHash], answer: dice.bytes() };
    const intent = { key, asked, method, createdAt };
    if (dice.below(3) === 0) return { kind: "intent", intent };
    return {
      kind: "intent",
      intent,
      outcome,
      payments: [{ payment: kept, txKeys: [] }],
      unsent: [idOf(dice, ledger)],
    };
  },
  txKeys: (dice) => ({ kind: "txKeys", txHash: toHex(dice.bytes()), txKeys: [dice.bytes()] }),
  discardOutgoing: (dice, ledger) => ({ kind: "discardOutgoing", txHash: idOf(dice, ledger) }),
  pool: (dice, ledger) => ({
    kind: "pool",
    payments: Array.from({ length: dice.below(100) }, () => {
      const { txHash, paymentId, unlockTime, coinbase } = scanned(dice, ledger, 0);
      const amounts = [3n];
      const subaddress = { major: 0, minor: 0 };
      const rest = {
        amount: 3n,
        amounts,
        fee: 1n,
        height: 0,
        timestamp: 9,
        subaddress,
        doubleSpendSeen: false,
      };
      return { txHash, paymentId, unlockTime, coinbase, ...rest };
    }),
  }),
  newAccount: (dice) => ({ kind: "newAccount", label: toHex(dice.bytes()) }),
  newAddress: (dice, { state }) => ({
    kind: "newAddress",
    account: dice.below(state.accounts.length),
    label: "of many",
    count: 1 + dice.below(90),
  }),
  label(dice, { state }) {
    const major = dice.below(state.accounts.length);
    const minor = dice.below(state.accounts[major]!.addresses.length);
    return { kind: "label", index: { major, minor }, label: toHex(dice.bytes()) };
  },
  tag: (dice, { state }) => ({
    kind: "tag",
    accounts: [dice.below(state.accounts.length)],
    tag: dice.pick(tags)!,
  }),
  tagDescription: (dice, { state }) => ({
    kind: "tagDescription",
    tag: dice.pick([...state.accountTags.keys()]) ?? "till",
    description: toHex(dice.bytes()),
  }),
  note: (dice, ledger) => ({ kind: "note", txHash: idOf(dice, ledger), note: "a note" }),
  attribute: (dice) => ({
    kind: "attribute",
    key: `key ${"x".repeat(dice.below(600))}`,
    value: toHex(dice.bytes()),
  }),
  frozen: (dice, ledger) => ({
    kind: "frozen",
    keyImage: toHex(imageOf(dice, ledger)),
    frozen: dice.below(3) > 0,
  }),
  addressBook: (dice) => ({
    kind: "addressBook",
    entries: Array.from({ length: dice.below(40) }, () => ({
      address: toHex(dice.bytes()),
      description: "",
      paymentId: "",
    })),
  }),
  importedOutputs: (dice, { state }) => ({
    kind: "importedOutputs",
    offset: dice.below(state.outputs.count + 1),
    outputs: Array.from({ length: dice.below(40) }, () => imported(dice)),
  }),
  keyImages: (dice, { state, ...ledger }) => ({
    kind: "keyImages",
    offset: dice.below(state.outputs.count + 1),
    keyImages: [dice.bytes(), dice.bytes()],
    spent: ["unspent", dice.pick(["chain", "pool"] as const)!],
    transactions: [
      {
        ...scanned(dice, { state, ...ledger }, 5),
        txHash: dice.pick([...state.incoming])?.txHash ?? dice.bytes(),
      },
    ],
  }),
  spent: (dice, ledger) => ({
    kind: "spent",
    status: [[toHex(imageOf(dice, ledger)), dice.pick(["unspent", "chain", "pool"] as const)!]],
  }),
  coldKeyImages: (dice) => ({
    kind: "coldKeyImages",
    images: [{ oneTimeKey: dice.bytes(), keyImage: dice.bytes() }],
  }),
  multisigNonces(dice, { state }) {
    const old = [...state.multisigNonces.keys()].slice(0, 2);
    const gone = old.map((key) => [key, []] as const);
    return { kind: "multisigNonces", nonces: [...gone, [toHex(dice.bytes()), [dice.bytes(), dice.bytes()]]] };
  },
  multisigInfos: (dice) => ({
    kind: "multisigInfos",
    infos: [[toHex(dice.bytes()), [{ signer: dice.bytes(), nonces: [], partialKeyImages: [dice.bytes()] }]]],
  }),
  rings: (dice, ledger) => {
    const outputs = [...ledger.state.outputs].filter(() => dice.below(4) === 0);
    return {
      kind: "rings",
      rings: [{ oneTimeKey: dice.bytes() }, ...outputs].map(({ oneTimeKey }) => [
        toHex(oneTimeKey),
        [1, 2, 300],
      ]),
    };
  },
  takenOver: (dice, ledger) => ({
    kind: "takenOver",
    cacheId: toHex(dice.bytes()),
    isNewer: dice.below(2) === 0,
    payments: [payment(dice, ledger)],
    txKeys: [[idOf(dice, ledger), [dice.bytes()]]],
    notes: [[toHex(dice.bytes()), "from the cache"]],
    attributes: [["from", "the cache"]],
    addressBook: [{ address: toHex(dice.bytes()), description: "", paymentId: "" }],
    labels: [["Primary account", "first"], Array.from({ length: dice.below(150) }, () => "label")],
    tags: ["shop"],
    tagDescriptions: [["shop", "where we sell"]],
    frozen: [toHex(imageOf(dice, ledger)), toHex(dice.bytes())],
    thawed: [toHex(imageOf(dice, ledger))],
    keyImages: [[toHex(pickOutput(dice, ledger.state)?.oneTimeKey ?? dice.bytes()), dice.bytes()]],
  }),
  settings: () => ({ kind: "settings", settings: { seedLanguage: "Deutsch", refreshFromHeight: 3 } }),
  eventSource: (dice) => ({ kind: "eventSource", source: dice.bytes() }),
  time: (dice) => ({ kind: "time", seconds: dice.below(1e9) }),
  backgroundBegins: () => ({
    kind: "backgroundBegins",
    settings: { refreshFromHeight: 0, accounts: 50, addresses: 200, skipsCoinbase: false },
  }),
  backgroundEnds: () => ({ kind: "backgroundEnds" }),
};

/** Blocks bring what the other changes are about. */
const kinds = [
  ...(Object.keys(make) as Kind[]),
  "blocks",
  "blocks",
  "blocks",
  "blocks",
  "outgoing",
] as Kind[];
const rare: ReadonlySet<Kind> = new Set<Kind>(["reset", "backgroundEnds", "importedOutputs"]);

export function nextChange(dice: Dice, ledger: Ledger): WalletChange {
  const kind = dice.pick(kinds)!;
  return rare.has(kind) && dice.below(6) > 0 ? blocks(dice, ledger) : make[kind](dice, ledger);
}
