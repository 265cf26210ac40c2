/** Secrets, integrated addresses, attributes, payment URIs. Declarations: @anulo/rpc wallet/keys. */
import {
  type Address,
  BadAddress,
  encodeMnemonic,
  findLanguage,
  formatAddress,
  fromHex,
  parseAddress,
  toHex,
} from "@anulo/protocol";
import { type Dialect, wallet as declared, implementFor, unmetNeed } from "@anulo/rpc";
import type { OpenWallet } from "../file/open-wallet.ts";
import { formatPaymentUri, type PaymentUriRules, parsePaymentUri } from "../keys/payment-uri.ts";
import { isDeterministic } from "../keys/wallet-keys.ts";
import { costOf } from "../ledger/text-room.ts";
import { formatMultisigSeed } from "../multisig/seed.ts";
import { WalletRefusal } from "../refusal.ts";
import type { WalletContext } from "../service.ts";
import { isKeptElsewhere } from "../transfer/unknown-tx-key.ts";
import type { Wallet } from "../wallet.ts";
import { readyAccountOf } from "./multisig.ts";
import { parseTxHash } from "./parse-hex.ts";
import { checkTxKey } from "./proofs.ts";

type Asked = Pick<WalletContext, "opened" | "dialect">;

/** Throws for a background wallet, which never has the spend key. */
function refuseBackgroundWallet({ background }: OpenWallet): void {
  if (background.isWallet) throw unmetNeed("mainWallet");
}

function mnemonicOf({ opened, dialect }: Asked): string {
  const { wallet } = opened;
  if (wallet.signer.kind === "multisig") return formatMultisigSeed(readyAccountOf(wallet, dialect));
  refuseBackgroundWallet(opened);
  const keys = wallet.signer.spendKeys("showSeed");
  if (!isDeterministic(keys)) {
    throw new WalletRefusal("NON_DETERMINISTIC", "The wallet is non-deterministic. Cannot display seed.");
  }
  const { seedLanguage } = wallet.state.settings;
  if (findLanguage(seedLanguage) === undefined)
    throw new WalletRefusal("UNKNOWN_ERROR", "Failed to get seed.");
  return encodeMnemonic(keys.spendSecret, seedLanguage);
}

const uriRules = ({ network }: Wallet, dialect: Dialect): PaymentUriRules => ({
  network,
  takesPaymentIds: dialect === "contract",
});

function secretOf(query: Asked, keyType: string): string {
  const { opened } = query;
  const { wallet } = opened;
  if (keyType === "mnemonic") return mnemonicOf(query);
  if (keyType === "view_key") return toHex(wallet.keys.viewSecret);
  if (keyType !== "spend_key") throw new WalletRefusal("NONE", `key_type ${keyType} not found`);
  if (wallet.signer.kind === "multisig") return toHex(wallet.signer.account.baseSecret);
  refuseBackgroundWallet(opened);
  return toHex(wallet.signer.spendKeys("showSpendKey").spendSecret);
}

/** Parses an address; throws `WalletRefusal` if it is not an address of this wallet's network. */
function addressOf(wallet: Wallet, text: string): Address {
  try {
    return parseAddress(text, wallet.network);
  } catch (error) {
    if (error instanceof BadAddress) throw new WalletRefusal("WRONG_ADDRESS", "Invalid address");
    throw error;
  }
}

function standardAddress(wallet: Wallet, text: string): Address {
  if (text === "") return { kind: "standard", ...wallet.keys };
  const address = addressOf(wallet, text);
  if (address.kind === "subaddress") throw new WalletRefusal("WRONG_ADDRESS", "Subaddress shouldn't be used");
  if (address.kind === "integrated") throw new WalletRefusal("WRONG_ADDRESS", "Already integrated address");
  return address;
}

export const keyHandlers = implementFor<WalletContext>()(declared.keys, {
  queryKey: ({ key_type }, { opened, dialect }) => ({ key: secretOf({ opened, dialect }, key_type) }),
  makeIntegratedAddress({ standard_address, payment_id }, { opened: { wallet } }) {
    if (payment_id !== "" && !/^[0-9a-f]{16}$/i.test(payment_id)) {
      throw new WalletRefusal("WRONG_PAYMENT_ID", "Invalid payment ID");
    }
    const paymentId = payment_id === "" ? new Uint8Array(wallet.runtime.random(8)) : fromHex(payment_id);
    const { spendPublic, viewPublic } = standardAddress(wallet, standard_address);
    const integrated = { kind: "integrated", spendPublic, viewPublic, paymentId } as const;
    return { integrated_address: formatAddress(integrated, wallet.network), payment_id: toHex(paymentId) };
  },
  splitIntegratedAddress({ integrated_address }, { opened: { wallet } }) {
    const address = addressOf(wallet, integrated_address);
    if (address.kind !== "integrated") {
      throw new WalletRefusal("WRONG_ADDRESS", "Address is not an integrated address");
    }
    const { spendPublic, viewPublic } = address;
    const payment = toHex(address.paymentId);
    const standard = formatAddress({ kind: "standard", spendPublic, viewPublic }, wallet.network);
    return { is_subaddress: false, payment, payment_id: payment, standard_address: standard };
  },
  async setAttribute({ key, value }, { opened: { wallet } }) {
    await wallet.texts.during(costOf(key, value), () => wallet.commit({ kind: "attribute", key, value }));
    return {};
  },
  getAttribute({ key }, { opened: { wallet } }) {
    const value = wallet.state.attributes.get(key);
    if (value === undefined) throw new WalletRefusal("ATTRIBUTE_NOT_FOUND", "Attribute not found.");
    return { value };
  },
  checkTxKey,
  getTxKey({ txid }, { opened: { wallet }, dialect }) {
    const id = toHex(parseTxHash(txid));
    const keys = wallet.state.txKeys.get(id);
    // The original returns a placeholder for a key that only the signer has.
    if (keys === undefined || (isKeptElsewhere(keys) && dialect === "contract"))
      throw new WalletRefusal("NO_TXKEY", "No tx secret key is stored for this tx");
    return { tx_key: keys.map(toHex).join("") };
  },
  makeUri({ address, payment_id, amount, recipient_name, tx_description }, { opened: { wallet }, dialect }) {
    const request = {
      address,
      paymentId: payment_id,
      amount,
      recipientName: recipient_name,
      description: tx_description,
    };
    return { uri: formatPaymentUri(request, uriRules(wallet, dialect)) };
  },
  parseUri({ uri }, { opened: { wallet }, dialect }) {
    const { address, amount, paymentId, recipientName, description, unknown } = parsePaymentUri(
      uri,
      uriRules(wallet, dialect),
    );
    return {
      uri: {
        address,
        amount,
        payment_id: paymentId,
        recipient_name: recipientName,
        tx_description: description,
      },
      unknown_parameters: unknown,
    };
  },
});
