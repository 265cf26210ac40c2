import { RpcError } from "@anulo/rpc";

/** Codes of refusals. Source: core_rpc_server_error_codes.h. */
export const errorCodes = {
  wrongParam: -1,
  tooBigHeight: -2,
  tooBigReserveSize: -3,
  wrongWalletAddress: -4,
  internal: -5,
  wrongBlockBlob: -6,
  blockNotAccepted: -7,
  coreBusy: -9,
  wrongBlockBlobSize: -10,
  miningToSubaddress: -12,
  regtestRequired: -13,
  restricted: -19,
  unsupportedBootstrap: -20,
  paymentsNotEnabled: -21,
} as const;

/** A refusal with the original's code. */
export function refusal(code: keyof typeof errorCodes, message: string): RpcError {
  return new RpcError(errorCodes[code], message);
}
