/** The permissions of tokens. Each call's declaration contains the scope that it needs. */

/** No scope implies another. */
export const scopes = ["read", "receive", "spend", "secrets", "admin"] as const;

export type Scope = (typeof scopes)[number];

/** The scope that a call requires of a token; `any`: every token is sufficient. */
export type NeededScope = Scope | "any";

/**
 * What a call is about, and so which tokens reach it: the open `wallet` of its path; the wallet that its `filename`
 * names; the whole `service`, for tokens of all wallets; or `nothing` that belongs to a wallet.
 */
export type Reach = "wallet" | "filename" | "service" | "nothing";
