// The targets by name; each file is loaded only by the thread that runs one of its targets.
const files = {
  protocol: [
    "transaction",
    "pruned-transaction",
    "block",
    "extra",
    "portable-storage",
    "address",
    "mnemonic",
    "base58",
    "amount",
    "hex",
    "chain-file",
  ],
  http: [
    "json",
    "request-head",
    "chunked-body",
    "http-connection",
    "digest-login",
    "client-answer",
    "name-answer",
  ],
  peers: ["levin-frames", "peer-messages", "chain-messages", "peer-lists", "peer-address", "ban-list"],
  storage: ["database-rows", "monerod-database"],
  crypto: ["signatures", "range-proofs"],
  wallet: [
    "payment-uri",
    "keys-file",
    "wallet-journal",
    "unsigned-set",
    "signed-set",
    "exported-outputs",
    "transfer-metadata",
    "proof-texts",
    "key-exchange",
    "cbor",
  ],
  interchange: [
    "keys-file-content",
    "original-cache",
    "multisig-set",
    "multisig-infos",
    "set-description",
    "payment-proofs",
    "wallet-json",
  ],
  programs: ["flags", "configuration", "checkpoints", "log-categories", "flag-values"],
  zmq: ["zmtp-bytes"],
  services: ["node-calls", "wallet-calls"],
};

const fileOf = new Map(Object.entries(files).flatMap(([file, names]) => names.map((name) => [name, file])));

export const targetNames = [...fileOf.keys()];

/** A target: its seeds, what it does with an input, which errors it may refuse one with. */
export async function findTarget(name) {
  const { targets } = await import(`./targets/${fileOf.get(name)}.mjs`);
  const target = targets[name];
  if (target === undefined) throw new Error(`no target ${name}`);
  return { refusals: [], ...target };
}
