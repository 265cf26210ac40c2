/** Errors sent between threads as plain data, since structured cloning would lose their classes. */
import { SigningRefused } from "../multisig/attempts.ts";
import { type RefusalKind, WalletRefusal } from "../refusal.ts";

/** An error as plain data. */
export type Failure =
  | { readonly kind: "refusal"; readonly refusal: RefusalKind; readonly message: string }
  | { readonly kind: "signing"; readonly message: string }
  | { readonly kind: "bug"; readonly error: unknown };

export function failureOf(error: unknown): Failure {
  if (error instanceof WalletRefusal) return { kind: "refusal", refusal: error.kind, message: error.message };
  if (error instanceof SigningRefused) return { kind: "signing", message: error.message };
  return { kind: "bug", error };
}

/** Restores the error, as an instance of its class where callers test for that. */
export function errorOf(failure: Failure): unknown {
  if (failure.kind === "refusal") return new WalletRefusal(failure.refusal, failure.message);
  return failure.kind === "signing" ? new SigningRefused(failure.message) : failure.error;
}
