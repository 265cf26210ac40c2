/** What the bearer of a token may do. Which call needs what is said beside each declaration. */

/** None of them implies another. */
export const scopes = ["read", "receive", "spend", "secrets", "admin"] as const;

export type Scope = (typeof scopes)[number];

/** The scope that a call needs of a token; `any`: every token will do. */
export type NeededScope = Scope | "any";

/**
 * What a call is about, and so which tokens reach it: the open `wallet` of its path; the wallet that its `filename`
 * names; the whole `service`, for tokens of all wallets; or `nothing` that belongs to a wallet.
 */
export type Reach = "wallet" | "filename" | "service" | "nothing";
