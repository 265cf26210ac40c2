/** The destinations of a payment, parsed from the caller's text. Source: wallet_rpc_server.cpp `validate_transfer`. */
import { type MaybePromise, mapSliced, whenReady } from "@anulo/limits";
import { BadAddress, type NetworkName, parseAddress } from "@anulo/protocol";
import { WalletRefusal } from "../refusal.ts";
import type { Destination } from "./stages.ts";

/** Bytes of `extra` that an encrypted payment id takes: tag, length, kind and 8 bytes. */
const PAYMENT_ID_FIELD_BYTES = 11;

export type DestinationText = { readonly address: string; readonly amount: bigint };

/** Parses an address of the wallet's network; throws `WalletRefusal` if it is none. */
export function parseDestination({ address, amount }: DestinationText, network: NetworkName): Destination {
  try {
    const parsed = parseAddress(address, network);
    const { kind, spendPublic, viewPublic } = parsed;
    const paymentId = parsed.kind === "integrated" ? parsed.paymentId : undefined;
    return { address, spendPublic, viewPublic, isSubaddress: kind === "subaddress", paymentId, amount };
  } catch (error) {
    if (!(error instanceof BadAddress)) throw error;
    throw new WalletRefusal("WRONG_ADDRESS", `WALLET_RPC_ERROR_CODE_WRONG_ADDRESS: ${address}`);
  }
}

/**
 * Parses addresses of the wallet's network, some at a time; throws `WalletRefusal` for an invalid address, an empty list,
 * or two payment ids.
 */
export function parseDestinations(
  texts: readonly DestinationText[],
  network: NetworkName,
): MaybePromise<Destination[]> {
  let paymentIds = 0;
  const parsed = mapSliced(texts, (text) => {
    const destination = parseDestination(text, network);
    if (destination.paymentId !== undefined) paymentIds++;
    return destination;
  });
  return whenReady(parsed, (destinations) => {
    if (paymentIds > 1)
      throw new WalletRefusal("WRONG_PAYMENT_ID", "A single payment id is allowed per transaction");
    if (destinations.length === 0)
      throw new WalletRefusal("ZERO_DESTINATION", "Transaction has no destination");
    return destinations;
  });
}

/**
 * Marks the destinations that pay the fee, by index, some at a time. Throws `WalletRefusal` for an index out of range.
 */
export function withFeePayers(
  destinations: readonly Destination[],
  places: readonly number[],
): MaybePromise<Destination[]> {
  const last = places.reduce((most, place) => Math.max(most, place), -1);
  if (last >= destinations.length)
    throw new WalletRefusal(
      "GENERIC_TRANSFER_ERROR",
      `subtractfeefrom: bad index: ${last} (indexes are 0-based)`,
    );
  const payers = new Set(places);
  return mapSliced(destinations.entries(), ([place, destination]) => ({
    ...destination,
    ...(places.length > 0 && { place }),
    paysFee: payers.has(place),
  }));
}

/** Bytes of `extra` that are known before a transaction is planned. */
export function knownExtraSize(destinations: readonly Destination[]): number {
  return destinations.some(({ paymentId }) => paymentId !== undefined) ? PAYMENT_ID_FIELD_BYTES : 0;
}
