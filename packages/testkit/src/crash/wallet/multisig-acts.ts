import type { ExactObject } from "@anulo/devnet";
import { type Act, nameOf, sending, text } from "./acts.ts";
import { settle } from "./intents.ts";
import { demand, type Stage, unlessRefused } from "./stage.ts";

const password = "";

/** Opens the other signer's half of the wallet that has funds. */
async function openOther({ world: { signer } }: Stage): Promise<void> {
  await signer("open_wallet", { filename: "shared-other" });
  await signer("refresh");
}

/** Both exchange what a payment needs. */
async function exchangeInfos(stage: Stage): Promise<void> {
  const { ask, world } = stage;
  await ask("refresh");
  await openOther(stage);
  const [own, other] = [await ask("export_multisig_info"), await world.signer("export_multisig_info")];
  await ask("import_multisig_info", { info: [text(other.info)] });
  await world.signer("import_multisig_info", { info: [text(own.info)] });
}

/** The whole way to a payment that both have signed and nobody has sent. */
async function signTogether(stage: Stage): Promise<ExactObject> {
  await exchangeInfos(stage);
  const { multisig_txset } = await stage.world.signer("transfer", stage.payment);
  const { tx_data_hex } = await stage.ask("sign_multisig", { tx_data_hex: text(multisig_txset) });
  return { tx_data_hex: text(tx_data_hex) };
}

const submitMultisig = sending("shared", "submit_multisig", {})(signTogether);

/** The amount is paid once, however often the two have to begin anew. */
async function payTogether(stage: Stage): Promise<void> {
  await stage.open("shared");
  const again = async () => stage.ask("submit_multisig", await signTogether(stage));
  await settle(stage, { again });
}

const propose: Act = {
  async prepare(stage) {
    await stage.open("shared");
    await exchangeInfos(stage);
  },
  work: (stage) => stage.ask("transfer", stage.payment),
  check: payTogether,
};

let proposed = "";
const sign: Act = {
  async prepare(stage) {
    await propose.prepare(stage);
    proposed = text((await stage.world.signer("transfer", stage.payment)).multisig_txset);
  },
  work: (stage) => stage.ask("sign_multisig", { tx_data_hex: proposed }),
  async check(stage) {
    await stage.open("shared");
    // Either nothing was signed yet, or it is signed no second time.
    await unlessRefused(stage.ask("sign_multisig", { tx_data_hex: proposed }));
    demand(
      (await unlessRefused(stage.ask("sign_multisig", { tx_data_hex: proposed }))) === undefined,
      "nonces were used twice",
    );
    await payTogether(stage);
  },
};

/** What is exchanged anew is good for a payment. */
async function checkInfos(stage: Stage): Promise<void> {
  await stage.open("shared");
  await exchangeInfos(stage);
  const { multisig_import_needed } = await stage.ask("get_balance");
  demand(multisig_import_needed === false, "what the other signer told is gone");
}

const exportInfo: Act = {
  prepare: (stage) => stage.open("shared"),
  work: (stage) => stage.ask("export_multisig_info"),
  check: checkInfos,
};

let info = "";
const importInfo: Act = {
  async prepare(stage) {
    await stage.open("shared");
    await openOther(stage);
    info = text((await stage.world.signer("export_multisig_info")).info);
  },
  work: (stage) => stage.ask("import_multisig_info", { info: [info] }),
  check: checkInfos,
};

let strings: { own: string; other: string } = { own: "", other: "" };

/** Two new wallets, each with its first string. */
async function prepareBoth(stage: Stage): Promise<void> {
  const created = { filename: nameOf(stage), language: "English" };
  const infos: string[] = [];
  for (const ask of [stage.ask, stage.world.signer]) {
    await ask("create_wallet", created);
    infos.push(text((await ask("prepare_multisig", { enable_multisig_experimental: true })).multisig_info));
  }
  await stage.ask("set_attribute", { key: "label", value: "kept" });
  strings = { own: infos[0]!, other: infos[1]! };
}

const joinOf = (string: string): ExactObject => ({ multisig_info: [string], threshold: 2, password });

async function checkReady(stage: Stage): Promise<void> {
  const { ready, threshold, total } = await stage.ask("is_multisig");
  demand(ready === true && Number(threshold) === 2 && Number(total) === 2, "the wallet is not ready");
  const [own, other] = [await stage.ask("get_address"), await stage.world.signer("get_address")];
  demand(own.address === other.address, "the signers came to different addresses");
  const { value } = await stage.ask("get_attribute", { key: "label" });
  demand(value === "kept", "an attribute is gone");
}

const make: Act = {
  async prepare(stage) {
    await prepareBoth(stage);
    await stage.world.signer("make_multisig", joinOf(strings.own));
  },
  work: (stage) => stage.ask("make_multisig", joinOf(strings.other)),
  async check(stage) {
    await stage.ask("open_wallet", { filename: nameOf(stage) });
    const { multisig } = await stage.ask("is_multisig");
    if (multisig !== true) await stage.ask("make_multisig", joinOf(strings.other));
    await checkReady(stage);
  },
};

export const multisigActs = { make, exportInfo, importInfo, propose, sign, submitMultisig } as const;
