/** A file for each part of the points at which a wallet service is killed, so that the parts run at once. */
export function partOf(point: string): "signers" | "payments" | "files" {
  if (/multisig|signers/.test(point)) return "signers";
  return /^(?:transfer|relay_tx|submit_transfer)/.test(point) ? "payments" : "files";
}
