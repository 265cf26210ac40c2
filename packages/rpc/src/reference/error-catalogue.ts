import type { Call, Need } from "../define.ts";

/** An error that calls answer. */
export type DocumentedError = {
  readonly code: number;
  /** What it means, in a sentence. */
  readonly message: string;
  /** When it is returned, and what a caller can do. */
  readonly when: string;
  /** Names of the calls that return it, or the need that is not met; if both are left out, any call may. */
  readonly calls?: readonly string[];
  readonly need?: Need;
};

/** Errors by names that appear in the document only. */
export type ErrorCatalogue = Readonly<Record<string, DocumentedError>>;

/** Names of the errors that a call may return, in the order of the catalogue. */
export function errorNamesOf(call: Pick<Call, "name" | "needs">, catalogue: ErrorCatalogue): string[] {
  return Object.entries(catalogue).flatMap(([name, { calls, need }]) => {
    const isGeneral = calls === undefined && need === undefined;
    const isOfCall = calls?.includes(call.name) === true || (need !== undefined && call.needs.includes(need));
    return isGeneral || isOfCall ? [name] : [];
  });
}

/** Errors that any call of both services may return. Source: JSON-RPC 2.0, section 5.1; the last three are ours. */
export const generalErrors: ErrorCatalogue = {
  ParseError: {
    code: -32700,
    message: "The body is not JSON.",
    when: "Before the call is known; the id of the response is 0.",
  },
  InvalidRequest: {
    code: -32600,
    message: "The body is JSON, but not a request.",
    when: "Where `method` is missing or is no text, and for a batch that is too long or carries an Idempotency-Key header.",
  },
  MethodNotFound: {
    code: -32601,
    message: "There is no such method here.",
    when: "Also for methods that a restricted port or the chosen dialect does not have. Paths answer HTTP 404.",
  },
  InvalidParams: {
    code: -32602,
    message: "A param is missing, of the wrong type, or out of range.",
    when: "Before anything is done. Paths answer HTTP 400.",
  },
  InternalError: {
    code: -32603,
    message: "The service has a fault.",
    when: "The log holds the details, with the id of the request that the header X-Request-Id of the response names.",
  },
  LimitExceeded: {
    code: -32005,
    message: "The response would exceed what the port may hold.",
    when: "For a response that would be too long: ask for less at once, such as `get_transfers` with heights. For requests of a batch for whose responses no space is left; send them again by themselves.",
  },
  NotImplemented: {
    code: -32000,
    message: "The method is not implemented yet.",
    when: "For calls that the document marks with `x-not-implemented`.",
  },
};

/** Errors of the node service. Source: core_rpc_server_error_codes.h. */
export const nodeErrors: ErrorCatalogue = {
  ...generalErrors,
  NoFeeEstimate: {
    code: 0,
    message: "The number of blocks is too large for an estimate.",
    when: "Upstream dialect only.",
    calls: ["get_fee_estimate"],
  },
  WrongParam: {
    code: -1,
    message: "A param has the right type, but a value that makes no sense.",
    when: "The message names the param: a height, a hash, hex, an address to ban.",
    calls: [
      "add_aux_pow",
      "banned",
      "get_block",
      "get_block_header_by_hash",
      "get_block_template",
      "get_fee_estimate",
      "on_get_block_hash",
      "set_bans",
      "submit_block",
    ],
  },
  TooBigHeight: {
    code: -2,
    message: "The height is above the newest block.",
    when: "Ask for the height of the chain first, or wait for the block.",
    calls: ["get_block", "get_block_header_by_height", "get_block_headers_range", "on_get_block_hash"],
  },
  TooBigReserveSize: {
    code: -3,
    message: "More than 255 bytes were to be reserved.",
    when: "For `reserve_size`, and for `extra_nonce`.",
    calls: ["get_block_template"],
  },
  WrongWalletAddress: {
    code: -4,
    message: "The address is not one of this network.",
    when: "Where a block is to pay to it.",
    calls: ["generateblocks", "get_block_template"],
  },
  Internal: {
    code: -5,
    message: "What was asked for was not found, or could not be made.",
    when: "The message says what: a block, a transaction of the pool, a distribution, a template.",
    calls: [
      "add_aux_pow",
      "generateblocks",
      "get_block",
      "get_block_header_by_hash",
      "get_block_template",
      "get_output_distribution",
      "relay_tx",
    ],
  },
  WrongBlockBlob: {
    code: -6,
    message: "The hex is not that of a block.",
    when: "Before the block is checked.",
    calls: ["add_aux_pow", "calc_pow", "submit_block"],
  },
  BlockNotAccepted: {
    code: -7,
    message: "The block breaks a rule, or its parent is unknown.",
    when: "The log of the node says which rule.",
    calls: ["generateblocks", "submit_block"],
  },
  CoreBusy: {
    code: -9,
    message: "The node is fetching the chain.",
    when: "Until it has the chain of its peers: try again later.",
    calls: ["get_block_template", "submit_block"],
  },
  WrongBlockBlobSize: {
    code: -10,
    message: "The block is larger than any may be.",
    when: "Before it is parsed.",
    calls: ["calc_pow", "submit_block"],
  },
  MiningToSubaddress: {
    code: -12,
    message: "Blocks can't pay to a subaddress.",
    when: "Give an address of the first account with index 0.",
    calls: ["generateblocks", "get_block_template"],
  },
  RegtestRequired: {
    code: -13,
    message: "Blocks are made on request on private chains only.",
    when: "On mainnet, testnet and stagenet.",
    calls: ["generateblocks"],
  },
  Restricted: {
    code: -19,
    message: "A restricted port does not answer this much.",
    when: "Ask for less, or use a node of your own.",
    calls: ["get_block_header_by_hash", "get_block_headers_range", "get_output_distribution"],
  },
  UnsupportedBootstrap: {
    code: -20,
    message: "The other node that answers for this one does not support the call.",
    when: "While this node fetches the chain and another one answers for it.",
    calls: ["submit_block"],
  },
  PaymentsNotEnabled: {
    code: -21,
    message: "Access is not sold here.",
    when: "Always.",
    calls: ["rpc_access_data", "rpc_access_account"],
  },
};
