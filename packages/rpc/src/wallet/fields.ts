import { type Declared, type Method, method } from "../define.ts";
import { object, optional, or, zero } from "../schema/composites.ts";
import { printable, text, u64, uint32 } from "../schema/scalars.ts";
import type { AnySchema } from "../schema/schema.ts";
import type { NeededScope } from "../scope.ts";

export const nothing = object({});

/** Needs a wallet; also available in a service that was started with --restricted-rpc. */
export const onOpenWallet = ["openWallet"] as const;
/** Needs a service that was not started with --restricted-rpc. */
export const onOwnService = ["unrestrictedService"] as const;
/** Needs both: a service that is not restricted, which is checked first, and a wallet. */
export const onOwnWallet = [...onOwnService, "openWallet"] as const;

/** Needs a wallet that is not a background wallet, and does not scan in the background. */
export const onSpendKey = [...onOpenWallet, "mainWallet", "spendKey"] as const;
/** The same, and a service that is not restricted, which is checked first. */
export const onOwnSpendKey = [...onOwnService, ...onSpendKey] as const;

/** Needs a wallet whose owner has enabled multisig, if it is a multisig wallet. */
export const onOwnSigner = [...onOwnWallet, "enabledMultisig"] as const;
/** The same, for a wallet that is neither a background wallet nor scans in the background. */
export const onOwnSpendKeySigner = [...onOwnSpendKey, "enabledMultisig"] as const;

/**
 * Declares a method of the wallet service. By default it needs a wallet, and is rejected if the service is restricted.
 */
export function walletMethod<const Name extends string, P extends AnySchema, R extends AnySchema>(
  declaration: Declared & {
    readonly name: Name;
    readonly scope: NeededScope;
    readonly params: P;
    readonly result: R;
  },
): Method<Name, P, R> {
  return method({ needs: onOwnWallet, ...declaration });
}

export const subaddressIndex = object({ major: zero(uint32), minor: zero(uint32) });

/** Amount in atomic units and the address that receives it. */
export const destination = object({ amount: zero(u64), address: zero(text) });

/**
 * The key of a payment: a call repeated with the same key and params does not pay again and gets the same response. It
 * can also be sent as the header Idempotency-Key.
 */
export const payingOnce = { idempotency_key: optional(printable(128)) };

export const maybeText = or(text, "");
