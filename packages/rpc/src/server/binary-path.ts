import type { Implemented } from "../define.ts";
import { type Answer, failed } from "./answer.ts";
import type { RequestInfo, Rules } from "./call.ts";

const SIGNATURE = Buffer.from([0x01, 0x11, 0x01, 0x01, 0x01, 0x01, 0x02, 0x01, 0x01]);

/** True for a body in portable storage. */
export function isBinaryBody(body: Uint8Array): boolean {
  return SIGNATURE.equals(body.subarray(0, SIGNATURE.length));
}

/** Answers a binary path. */
export async function answerBinaryPath<Context>(
  _found: Implemented<Context>,
  _body: Uint8Array,
  _request: RequestInfo,
  _rules: Rules<Context>,
): Promise<Answer> {
  return failed;
}
