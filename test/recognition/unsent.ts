/** Payments that are made and not sent: cheap, so that there can be many for what is left to chance. */
import { deriveSubaddressPublicKey, generateKeyDerivation } from "@anulo/crypto";
import {
  equalBytes,
  fromHex,
  outputKey,
  parseAddress,
  parseExtra,
  readTransaction,
  txPublicKeys,
} from "@anulo/protocol";
import type { ExactObject } from "@anulo/testkit";

type Ask = (method: string, params?: ExactObject) => Promise<ExactObject>;

/** The place among its outputs at which a transaction pays the primary address of a view key. */
function placePaid(blob: string, address: string, viewSecret: Uint8Array): number {
  const { outputs, extra } = readTransaction(fromHex(blob)).prefix;
  const [txPublicKey] = txPublicKeys(parseExtra(extra));
  const derivation = generateKeyDerivation(txPublicKey!, viewSecret);
  const { spendPublic } = parseAddress(address);
  return outputs.findIndex((output, i) =>
    equalBytes(deriveSubaddressPublicKey(outputKey(output)!, derivation, i), spendPublic),
  );
}

/** The place of the change in each of so many payments of one output to `address`. */
export async function placesOfChange(
  wallet: { readonly ask: Ask; readonly address: string },
  address: string,
  count: number,
): Promise<number[]> {
  const viewSecret = fromHex(String((await wallet.ask("query_key", { key_type: "view_key" })).key));
  const params = { destinations: [{ address, amount: 10n ** 11n }], do_not_relay: true, get_tx_hex: true };
  const places: number[] = [];
  for (let i = 0; i < count; ++i) {
    const { tx_blob } = await wallet.ask("transfer", params);
    places.push(placePaid(String(tx_blob), wallet.address, viewSecret));
  }
  return places;
}
