/** Signers who share a wallet, each in a service of either program. */
import assert from "node:assert/strict";
import { CallFailed, call, type ExactObject, type RunningDaemon } from "@anulo/testkit";
import { bigintOf, listOf, mine, type Side, type Stage } from "../actors.ts";
import { words } from "./words.ts";

export type Ask = (method: string, params?: ExactObject) => Promise<ExactObject>;

/** `trusts`: the node, which is this machine's. */
async function openSigner(
  stage: Stage,
  side: Side,
  { daemonPort, trusts }: { daemonPort: number; trusts: boolean },
): Promise<Ask> {
  const { url } = await stage.service(side, daemonPort);
  const ask: Ask = (method, params = {}) => call(url, method, params);
  await ask("create_wallet", { filename: "signer", password: "secret", language: "English" });
  await ask("auto_refresh", { enable: false });
  if (!trusts) await ask("set_daemon", { address: `127.0.0.1:${daemonPort}`, trusted: false });
  return ask;
}

const field = (answers: readonly ExactObject[], name: string) =>
  answers.map((answer) => String(answer[name]));

/** Asks each signer with what the others have said. */
async function eachWithOthers(
  signers: readonly Ask[],
  texts: readonly string[],
  ask: (signer: Ask, others: string[]) => Promise<ExactObject>,
): Promise<ExactObject[]> {
  const answers: ExactObject[] = [];
  for (const [own, signer] of signers.entries()) answers.push(await ask(signer, texts.toSpliced(own, 1)));
  return answers;
}

/** As few strings as two of three signers need, one of them again in place of that of the signer who is missing. */
async function exchangeForced(signer: Ask, others: readonly string[]): Promise<ExactObject> {
  const params = { multisig_info: others.map(() => others[0]!), password: "secret" };
  await refuses(signer, "exchange_multisig_keys", params);
  return await signer("exchange_multisig_keys", { ...params, force_update_use_with_caution: true });
}

/** Rounds of the key exchange until all say the address; answers it. */
async function agreeOnAddress(
  signers: readonly Ask[],
  threshold: number,
  isForced: boolean,
): Promise<string> {
  const password = "secret";
  const prepared: ExactObject[] = [];
  for (const signer of signers)
    prepared.push(await signer("prepare_multisig", { enable_multisig_experimental: true }));
  let round = await eachWithOthers(signers, field(prepared, "multisig_info"), (signer, others) =>
    signer("make_multisig", { multisig_info: others, threshold, password }),
  );
  for (let rounds = signers.length - threshold + 1; rounds > 0; rounds--) {
    round = await eachWithOthers(signers, field(round, "multisig_info"), (signer, others) =>
      isForced
        ? exchangeForced(signer, others)
        : signer("exchange_multisig_keys", { multisig_info: others, password }),
    );
  }
  const [address, ...more] = field(round, "address");
  assert.ok(more.every((other) => other === address));
  for (const signer of signers) {
    const { key } = await signer("query_key", { key_type: "view_key" });
    const { ready, total } = await signer("is_multisig");
    assert.deepEqual({ ready, total: Number(total) }, { ready: true, total: signers.length });
    assert.equal(key, (await signers[0]!("query_key", { key_type: "view_key" })).key);
  }
  return address!;
}

/** All signers scan and exchange what a payment needs; `how` goes with the import. */
export async function prepareToSign(signers: readonly Ask[], how: ExactObject = {}): Promise<void> {
  const told: ExactObject[] = [];
  for (const signer of signers) {
    await signer("refresh");
    told.push(await signer("export_multisig_info"));
  }
  await eachWithOthers(signers, field(told, "info"), (signer, info) =>
    signer("import_multisig_info", { info, ...how }),
  );
}

/** The first proposes, the others of the group sign, the last one sends; answers the transaction's id. */
export async function payTogether(group: readonly Ask[], destination: ExactObject): Promise<string> {
  const [proposer, ...cosigners] = group as [Ask, ...Ask[]];
  const proposed = await proposer("transfer", { destinations: [destination] });
  let tx_data_hex = String(proposed.multisig_txset);
  for (const cosigner of cosigners) {
    const { desc } = await cosigner("describe_transfer", { multisig_txset: tx_data_hex });
    const [recipient] = listOf(listOf(desc)[0]!.recipients);
    assert.equal(bigintOf(recipient!.amount), destination.amount);
    assert.equal(recipient!.address, destination.address);
    await refuses(cosigner, "submit_multisig", { tx_data_hex });
    const answer = await cosigner("sign_multisig", { tx_data_hex });
    await refuses(cosigner, "sign_multisig", { tx_data_hex: String(answer.tx_data_hex) });
    tx_data_hex = String(answer.tx_data_hex);
  }
  const { tx_hash_list } = await cosigners.at(-1)!("submit_multisig", { tx_data_hex });
  return String(listOf(tx_hash_list)[0]);
}

async function refuses(ask: Ask, method: string, params: ExactObject): Promise<void> {
  await assert.rejects(ask(method, params), CallFailed);
}

export async function fundTogether(
  stage: Stage,
  sides: readonly Side[],
  threshold: number,
  { isForced = false }: { readonly isForced?: boolean } = {},
) {
  const daemon = await stage.daemon("ours", "upstream");
  const bob = await stage.wallet("ours", { mnemonic: words.bob, daemonPort: daemon.port });
  const signers: Ask[] = [];
  for (const [i, side] of sides.entries()) {
    // Ours learns of spends in two ways: from a node it trusts, or from the blocks.
    const trusts = side === "real" || i % 2 === 0;
    signers.push(await openSigner(stage, side, { daemonPort: daemon.port, trusts }));
  }
  const address = await agreeOnAddress(signers, threshold, isForced);
  await mine(daemon, 4, address);
  await mine(daemon, 90, bob.address);
  return { daemon, bob, signers, address };
}

export async function received(
  daemon: RunningDaemon,
  bob: { call: Ask; address: string; refresh(): Promise<unknown> },
  txid: string,
) {
  await mine(daemon, 1, bob.address);
  await bob.refresh();
  const { transfers } = await bob.call("get_transfer_by_txid", { txid });
  return listOf(transfers).reduce((sum, { amount }) => sum + bigintOf(amount), 0n);
}
