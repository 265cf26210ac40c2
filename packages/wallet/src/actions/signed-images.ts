/**
 * Imports the key images that come with a signed set: a list in the order of the outputs that the signer knew, whose
 * signatures nobody has made. A reorganisation since may have put other outputs in these places.
 */
import { runSliced } from "@anulo/limits";
import { equalBytes, toHex } from "@anulo/protocol";
import { createMoveCheck, OutputsMoved } from "../outputs/walk.ts";
import type { WalletState } from "../state.ts";
import type { Wallet } from "../wallet.ts";
import { KEY_IMAGES_PER_CHANGE } from "./cold-exchange.ts";

type State = Readonly<Pick<WalletState, "outputs" | "coldKeyImages">>;

/** For each key image (hexadecimal) known by now the one-time key of its output (hexadecimal). */
type Owners = ReadonlyMap<string, string>;

function* ownersOf({ coldKeyImages }: State): Generator<void, Owners> {
  const owners = new Map<string, string>();
  for (const [oneTimeKey, keyImage] of coldKeyImages) {
    owners.set(toHex(keyImage), oneTimeKey);
    yield;
  }
  return owners;
}

/** Whether a key image can be that of the output at a place, and is news. */
function fitOf({ outputs }: State, place: number, keyImage: Uint8Array, owners: Owners) {
  const output = outputs.at(place);
  if (output === undefined) return "other";
  const { keyImage: ownImage, oneTimeKey } = output;
  if (ownImage !== undefined) return equalBytes(ownImage, keyImage) ? "known" : "other";
  const owner = owners.get(toHex(keyImage));
  return owner === undefined || owner === toHex(oneTimeKey) ? "news" : "other";
}

/**
 * Imports the key images of the outputs from the first on, some in one change, as far as the list is certainly of the
 * outputs that the wallet has: up to the first that contradicts what is known. Those left out can be imported with their
 * signatures, by `import_key_images`.
 */
export async function learnSignedImages(wallet: Wallet, keyImages: readonly Uint8Array[]): Promise<void> {
  const { state } = wallet;
  const checkMoved = createMoveCheck(state.outputs);
  const owners = await runSliced(ownersOf(state));
  for (let from = 0; from < keyImages.length; from += KEY_IMAGES_PER_CHANGE) {
    if (hasMoved(checkMoved)) return;
    const some = keyImages.slice(from, from + KEY_IMAGES_PER_CHANGE);
    const fits = some.map((keyImage, i) => fitOf(state, from + i, keyImage, owners));
    const end = fits.indexOf("other");
    const count = end === -1 ? some.length : end;
    const isNews = fits.slice(0, count).includes("news") || from + count > (state.requestedFrom ?? 0);
    if (count > 0 && isNews) {
      const fitting = some.slice(0, count);
      await wallet.learnKeyImages({
        kind: "keyImages",
        offset: from,
        keyImages: fitting,
        spent: [],
        transactions: [],
      });
    }
    if (end !== -1) return;
  }
}

function hasMoved(checkMoved: () => void): boolean {
  try {
    checkMoved();
    return false;
  } catch (error) {
    if (error instanceof OutputsMoved) return true;
    throw error;
  }
}
