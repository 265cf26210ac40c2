/** Payment requests as URIs. Source: wallet2.cpp `make_uri`, `parse_uri`; where they disagree with one another, see DIFFERENCES.md. */
import { BadAddress, BadAmount, formatAmount, parseAddress, parseAmount } from "@anulo/protocol";
import { WalletRefusal } from "../refusal.ts";
import type { NetworkName } from "../state.ts";

const SCHEME = "monero:";

export type PaymentRequest = {
  readonly address: string;
  /** 16 or 64 hex digits, or empty. */
  readonly paymentId: string;
  /** Atomic units; 0 if not specified. */
  readonly amount: bigint;
  readonly recipientName: string;
  readonly description: string;
};

export interface PaymentUriRules {
  readonly network: NetworkName;
  /**
   * Whether a payment id of either length may accompany the address. The original writes none and reads long ones: an
   * integrated address has its own.
   */
  readonly takesPaymentIds: boolean;
}

/** Throws `WalletRefusal` if a part is invalid. */
export function formatPaymentUri(
  request: PaymentRequest,
  { network, takesPaymentIds }: PaymentUriRules,
): string {
  const refuse = (why: string) =>
    new WalletRefusal("WRONG_URI", `Cannot make URI from supplied parameters: ${why}`);
  const kind = kindOf(request.address, network);
  if (kind === undefined) throw refuse(`wrong address: ${request.address}`);
  if (request.paymentId !== "" && kind === "integrated") throw refuse("A single payment id is allowed");
  if (request.paymentId !== "" && !takesPaymentIds)
    throw refuse("Standalone payment id deprecated, use integrated address instead");
  if (request.paymentId !== "" && !isPaymentId(request.paymentId)) throw refuse("Invalid payment id");
  const parts: [string, string][] = [
    ["tx_payment_id", request.paymentId],
    ["tx_amount", request.amount > 0n ? formatAmount(request.amount) : ""],
    ["recipient_name", encodePercent(request.recipientName)],
    ["tx_description", encodePercent(request.description)],
  ];
  const query = parts.flatMap(([name, value]) => (value === "" ? [] : [`${name}=${value}`])).join("&");
  return `${SCHEME}${request.address}${query === "" ? "" : `?${query}`}`;
}

/**
 * Encodes the characters that the original encodes, and `=` and `?` as well. Source: net_utils.cpp
 * `conver_to_url_format`.
 */
function encodePercent(text: string): string {
  return encodeURIComponent(text).replaceAll("!", "%21").replaceAll("~", "%7E").replaceAll("%2F", "/");
}

function kindOf(address: string, network: NetworkName) {
  try {
    return parseAddress(address, network).kind;
  } catch (error) {
    if (error instanceof BadAddress) return undefined;
    throw error;
  }
}

function isPaymentId(text: string): boolean {
  return /^([0-9a-f]{16}|[0-9a-f]{64})$/i.test(text);
}

/** Parses a payment request; throws `WalletRefusal` for anything else. Unknown parts are returned unchanged. */
export function parsePaymentUri(
  uri: string,
  { network, takesPaymentIds }: PaymentUriRules,
): PaymentRequest & { readonly unknown: string[] } {
  const refuse = (why: string) => new WalletRefusal("WRONG_URI", `Error parsing URI: ${why}`);
  if (!uri.startsWith(SCHEME)) throw refuse(`URI has wrong scheme (expected "${SCHEME}"): ${uri}`);
  const rest = uri.slice(SCHEME.length);
  const mark = rest.indexOf("?");
  const address = mark === -1 ? rest : rest.slice(0, mark);
  const kind = kindOf(address, network);
  if (kind === undefined) throw refuse(`URI has wrong address: ${address}`);
  const query = mark === -1 ? "" : rest.slice(mark + 1);
  const parameters = new Map<string, string>();
  const unknown: string[] = [];
  for (const part of query === "" ? [] : query.split("&")) {
    const equals = part.indexOf("=");
    if (equals === -1) throw refuse(`URI has wrong parameter: ${part}`);
    const name = part.slice(0, equals);
    if (parameters.has(name)) throw refuse(`URI has more than one instance of ${name}`);
    parameters.set(name, part.slice(equals + 1));
    if (!knownParts.has(name)) unknown.push(part);
  }
  const paymentId = parameters.get("tx_payment_id") ?? "";
  if (parameters.has("tx_payment_id")) {
    if (kind === "integrated") throw refuse("Separate payment id given with an integrated address");
    if (!isPaymentId(paymentId) || (paymentId.length === 16 && !takesPaymentIds))
      throw refuse(`Invalid payment id: ${paymentId}`);
  }
  const amountText = parameters.get("tx_amount");
  const amount = amountText === undefined ? 0n : amountOf(amountText);
  if (amount === undefined) throw refuse(`URI has invalid amount: ${amountText}`);
  const text = (name: string) => decodePercent(parameters.get(name) ?? "");
  return {
    address,
    paymentId,
    amount,
    recipientName: text("recipient_name"),
    description: text("tx_description"),
    unknown,
  };
}

const knownParts = new Set(["tx_payment_id", "tx_amount", "recipient_name", "tx_description"]);

function amountOf(text: string): bigint | undefined {
  try {
    return parseAmount(text);
  } catch (error) {
    if (error instanceof BadAmount) return undefined;
    throw error;
  }
}

/** A percent sign that does not begin an encoded byte is kept unchanged. */
function decodePercent(text: string): string {
  const bytes = text.replace(
    /%([0-9a-f]{2})|([^%]+|%)/gi,
    (_, hex: string | undefined, plain: string | undefined) =>
      hex === undefined
        ? Buffer.from(plain ?? "", "utf8").toString("latin1")
        : String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return Buffer.from(bytes, "latin1").toString("utf8");
}
