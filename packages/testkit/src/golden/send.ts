import { formatExact } from "@anulo/devnet";
import { type RawAnswer, RawConnection, type RawRequest } from "../http/connection.ts";
import { digestAnswer, parseChallenges } from "../http/digest.ts";
import { calledBy, type GoldenStep } from "./recording.ts";
import type { Translation } from "./translation.ts";

export type Sending = {
  readonly url: string;
  readonly translation: Translation;
  readonly patienceMs?: number | undefined;
};

/** Sends the request of a step, with this run's values in place of the recorded ones. */
export async function sendStep(
  step: GoldenStep,
  { url, translation, patienceMs }: Sending,
): Promise<RawAnswer> {
  const request = rawRequest(step, translation);
  const connection = new RawConnection(url, patienceMs);
  try {
    if (step.request.login === undefined) return await connection.exchange(request);
    return await exchangeWithLogin(url, connection, request, step);
  } finally {
    connection.close();
  }
}

async function exchangeWithLogin(
  url: string,
  connection: RawConnection,
  request: RawRequest,
  { request: { login, challenge = 0, new_connection } }: GoldenStep,
): Promise<RawAnswer> {
  const first = await connection.exchange(request);
  const challenges = parseChallenges(first.headers["www-authenticate"] ?? "");
  const [user = "", password = ""] = login ?? [];
  const { method, path } = request;
  const authorization = digestAnswer(challenges[challenge] ?? {}, { user, password, method, path });
  const second = { ...request, headers: { ...request.headers, Authorization: authorization } };
  if (!new_connection) return connection.exchange(second);
  const other = new RawConnection(url);
  try {
    return await other.exchange(second);
  } finally {
    other.close();
  }
}

function rawRequest(step: GoldenStep, translation: Translation): RawRequest {
  const { request } = step;
  const body = bodyOf(step, translation);
  const method = request.http ?? (body === undefined ? "GET" : "POST");
  const type = request.hex === undefined ? "application/json" : "application/octet-stream";
  const headers = request.headers ?? (body === undefined ? {} : { "Content-Type": type });
  return {
    method,
    path: request.path,
    headers: method === "RAW" || request.login ? headers : { ...headers, Connection: "close" },
    ...(body !== undefined && { body }),
    ...(request.half_close && { halfClose: true }),
  };
}

function bodyOf(step: GoldenStep, translation: Translation): Uint8Array | undefined {
  const { body, text, hex, body_bytes } = step.request;
  if (hex !== undefined) return Buffer.from(hex, "hex");
  if (text !== undefined) return Buffer.from(text);
  if (body !== undefined) return Buffer.from(formatExact(translation.value(body)));
  return body_bytes === undefined ? undefined : longBody(step, body_bytes);
}

/** A body too long to be recorded: a call whose one parameter fills it to its length. */
function longBody(step: GoldenStep, length: number): Uint8Array {
  const method = longMethods.find(({ excess }) => length % 1000 === excess)?.method ?? calledBy(step);
  const [head, tail] = [`{"jsonrpc": "2.0", "id": "0", "method": "${method}", "params": {"x": "`, '"}}'];
  return Buffer.from(head + "a".repeat(length - head.length - tail.length) + tail);
}

const longMethods = [
  { excess: 79, method: "get_block_count" },
  { excess: 77, method: "get_languages" },
  { excess: 65, method: "x" },
];
