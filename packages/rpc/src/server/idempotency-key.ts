/** The header Idempotency-Key: another way to send the field `idempotency_key` of the calls that have one. */
import type { Call } from "../define.ts";
import { protocolErrors, RpcError } from "../errors.ts";
import { isJsonObject, type Json } from "../json.ts";
import type { RecordSchema } from "../schema/composites.ts";
import type { Fields } from "../schema/schema.ts";
import type { RequestInfo } from "./call.ts";

const FIELD = "idempotency_key";

type WithHeader = Pick<RequestInfo, "idempotencyKey">;

/** Whether the request has the header and the call uses it; calls without the field may be repeated without it. */
export function hasHeaderFor({ params }: Call, { idempotencyKey }: WithHeader): boolean {
  if (idempotencyKey === undefined) return false;
  const { fields } = params as Partial<RecordSchema<Fields>>;
  return fields !== undefined && Object.hasOwn(fields, FIELD);
}

/** The params with the header's key. Throws `RpcError` if they contain a different one. */
export function withHeader(call: Call, params: Json, request: WithHeader): Json {
  if (!hasHeaderFor(call, request) || !isJsonObject(params)) return params;
  const key = unquoted(request.idempotencyKey!);
  const bodyKey = params[FIELD] ?? null;
  if (bodyKey !== null && bodyKey !== key)
    throw new RpcError(
      protocolErrors.invalidParams.code,
      `Invalid params: the header Idempotency-Key and the field ${FIELD} are different`,
    );
  return { ...params, [FIELD]: key };
}

/** The error for a batch: one key cannot be used for several calls. */
export const headerOfBatch = (): RpcError =>
  new RpcError(
    protocolErrors.invalidRequest.code,
    `Invalid Request: the header Idempotency-Key does not go with a batch; give each call its ${FIELD}`,
  );

/** Some callers write the key in quotes. Source: draft-ietf-httpapi-idempotency-key-header, section 2.1 (RFC 8941 strings). */
function unquoted(value: string): string {
  return /^"([^"\\]*)"$/.exec(value)?.[1] ?? value;
}
