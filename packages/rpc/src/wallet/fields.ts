import { object, or, zero } from "../schema/composites.ts";
import { text, u64, uint32 } from "../schema/scalars.ts";

export const nothing = object({});

/** Needs a wallet. */
export const onOpenWallet = ["openWallet"] as const;
/** Needs a wallet and a service that was not started with --restricted-rpc. */
export const onOwnWallet = ["openWallet", "unrestrictedService"] as const;

export const subaddressIndex = object({ major: zero(uint32), minor: zero(uint32) });

/** Amount in atomic units and the address it goes to. */
export const destination = object({ amount: zero(u64), address: zero(text) });

export const maybeText = or(text, "");
