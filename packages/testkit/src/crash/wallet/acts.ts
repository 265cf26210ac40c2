import type { ExactObject } from "@anulo/devnet";
import { type Intent, settle } from "./intents.ts";
import { demand, listOf, type Stage, unlessRefused } from "./stage.ts";
import { wordsOf } from "./world.ts";

/** Something a wallet service does, in the midst of which it is killed. */
export type Act = {
  /** Up to the moment from which the points count. */
  readonly prepare: (stage: Stage) => Promise<void>;
  /** What is under way when the service dies. */
  readonly work: (stage: Stage) => Promise<unknown>;
  /** Looks what the service has when it runs again; throws for what was lost or done twice. */
  readonly check: (stage: Stage) => Promise<void>;
};

const text = (value: unknown): string => String(value);

const transfer: Act = {
  prepare: (stage) => stage.open("alice"),
  work: (stage) => stage.ask("transfer", stage.payment),
  async check(stage) {
    await stage.open("alice");
    await settle(stage, { again: () => stage.ask("transfer", stage.payment) });
  },
};

/** An act that sends what an earlier answer handed out. */
function sending(opened: "alice" | "view" | "shared", method: string, intent: Omit<Intent, "again">) {
  let handedOut: ExactObject = {};
  return (obtain: (stage: Stage) => Promise<ExactObject>): Act => ({
    async prepare(stage) {
      await stage.open(opened);
      handedOut = await obtain(stage);
    },
    work: (stage) => stage.ask(method, handedOut),
    async check(stage) {
      await stage.open(opened);
      await settle(stage, { ...intent, again: () => stage.ask(method, handedOut) });
    },
  });
}

const relayTx = sending(
  "alice",
  "relay_tx",
  {},
)(async (stage) => {
  const unsentParams = { ...stage.payment, do_not_relay: true, get_tx_metadata: true };
  return { hex: text((await stage.ask("transfer", unsentParams)).tx_metadata) };
});

const submitTransfer = sending("view", "submit_transfer", { keepsKey: false })(async (stage) => {
  const { ask, world } = stage;
  const { outputs_data_hex } = await ask("export_outputs", { all: true });
  await world.cold("import_outputs", { outputs_data_hex: text(outputs_data_hex) });
  const { signed_key_images } = await world.cold("export_key_images", { all: true });
  await ask("import_key_images", { signed_key_images: listOf(signed_key_images) });
  const { unsigned_txset } = await ask("transfer", stage.payment);
  const { signed_txset } = await world.cold("sign_transfer", { unsigned_txset: text(unsigned_txset) });
  return { tx_data_hex: text(signed_txset) };
});

/** What follows from the chain must be the same as in a wallet of the same keys that was never killed. */
async function checkAgainstTwin(stage: Stage): Promise<void> {
  await stage.open("alice");
  await stage.world.twin("refresh");
  const transfersOf = async (ask: Stage["ask"]): Promise<string> => {
    const { transfers } = await ask("incoming_transfers", { transfer_type: "all" });
    const { balance } = await ask("get_balance");
    const { height } = await ask("get_height");
    const outputs = listOf(transfers).map((it) => `${it.pubkey} ${it.amount} ${it.block_height} ${it.spent}`);
    return [`height ${height}, balance ${balance}`, ...outputs.sort()].join("\n");
  };
  const [own, other] = [await transfersOf(stage.ask), await transfersOf(stage.world.twin)];
  demand(own === other, `the wallet knows\n${own}\nwhere another knows\n${other}`);
}

const scan: Act = {
  async prepare(stage) {
    await stage.open("alice");
    await stage.mine(3);
  },
  work: (stage) => stage.ask("refresh"),
  check: checkAgainstTwin,
};

const reorganise: Act = {
  async prepare(stage) {
    await stage.mine(2);
    await stage.open("alice");
    await stage.world.unmine(2);
    await stage.mine(3);
  },
  work: (stage) => stage.ask("refresh"),
  check: checkAgainstTwin,
};

/** Much more than a wallet's journal may grow before it is written anew, after hundreds of rounds too. */
const BULK = "x".repeat(2 * 1024 * 1024);

const compact: Act = {
  async prepare(stage) {
    await stage.open("alice");
    for (const value of [BULK, BULK, ""]) await stage.ask("set_attribute", { key: "bulk", value });
    await stage.ask("close_wallet");
  },
  work: (stage) => stage.open("alice"),
  check: checkAgainstTwin,
};

const close: Act = {
  async prepare(stage) {
    await stage.open("alice");
    // The original's cache is written only where something has changed since the last one.
    await stage.ask("set_attribute", { key: "round", value: String(stage.round) });
  },
  work: (stage) => stage.ask("close_wallet"),
  check: checkAgainstTwin,
};

const store: Act = { ...close, work: (stage) => stage.ask("store") };

const restore: Act = {
  prepare: async () => {},
  work: (stage) => restoreAgain(stage),
  async check(stage) {
    const opened = await unlessRefused(stage.ask("open_wallet", { filename: nameOf(stage) }));
    if (opened === undefined) await restoreAgain(stage);
    const { address } = await stage.ask("get_address");
    demand(address === stage.addresses.alice, "another wallet was restored");
    await stage.ask("refresh");
  },
};

const nameOf = ({ round }: Stage): string => `new-${round}`;

function restoreAgain(stage: Stage): Promise<ExactObject> {
  const params = { filename: nameOf(stage), seed: wordsOf("alice") };
  return stage.ask("restore_deterministic_wallet", params);
}

const changePassword: Act = {
  prepare: (stage) => stage.open("alice"),
  work: (stage) =>
    stage.ask("change_wallet_password", { old_password: stage.password, new_password: nameOf(stage) }),
  async check(stage) {
    const old = stage.password;
    for (const password of [nameOf(stage), old]) {
      if ((await unlessRefused(stage.ask("open_wallet", { filename: "alice", password }))) === undefined)
        continue;
      stage.password = password;
      return await checkAgainstTwin(stage);
    }
    throw new Error("neither the old nor the new password opens the wallet");
  },
};

export const acts = {
  transfer,
  relayTx,
  submitTransfer,
  scan,
  reorganise,
  compact,
  close,
  store,
  restore,
  changePassword,
} as const;

export { nameOf, sending, text };
