import { type Declared, type Method, method } from "../define.ts";
import { object, optional, or, zero } from "../schema/composites.ts";
import { printable, text, u64, uint32 } from "../schema/scalars.ts";
import type { AnySchema } from "../schema/schema.ts";
import type { NeededScope } from "../scope.ts";

export const nothing = object({});

/** Needs a wallet; a service that was started with --restricted-rpc answers it too. */
export const onOpenWallet = ["openWallet"] as const;
/** Needs a service that was not started with --restricted-rpc. */
export const onOwnService = ["unrestrictedService"] as const;
/** Needs both: a wallet, and a service that is not restricted, of which it hears first. */
export const onOwnWallet = [...onOwnService, "openWallet"] as const;

/** Needs a wallet that is no background wallet, and does not scan in the background. */
export const onSpendKey = [...onOpenWallet, "mainWallet", "spendKey"] as const;
/** The same, and a service that is not restricted, of which it hears first. */
export const onOwnSpendKey = [...onOwnService, ...onSpendKey] as const;

/** Needs a wallet whose owner has enabled multisig, if several signers share it. */
export const onOwnSigner = [...onOwnWallet, "enabledMultisig"] as const;
/** The same, and one that neither is a background wallet nor scans in the background. */
export const onOwnSpendKeySigner = [...onOwnSpendKey, "enabledMultisig"] as const;

/**
 * Declares a method of the wallet service. What does not say otherwise needs a wallet, and is denied where the service
 * is restricted.
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

/** Amount in atomic units and the address it goes to. */
export const destination = object({ amount: zero(u64), address: zero(text) });

/**
 * Names a payment: repeated with the same key and params, a call pays no second time and has the same answer. Also
 * given as the header Idempotency-Key.
 */
export const payingOnce = { idempotency_key: optional(printable(128)) };

export const maybeText = or(text, "");
