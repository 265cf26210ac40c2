import type { IncomingMessage, ServerResponse } from "node:http";
import type { Answer } from "./answer.ts";

/** Reasons as the original programs spell them. */
const reasons: Readonly<Record<Answer["status"], string>> = {
  200: "Ok",
  400: "Bad request",
  404: "Not found",
  413: "Content Too Large",
  500: "Internal Server Error",
  503: "Service Unavailable",
};

const UNAUTHORIZED =
  "<html><head><title>Unauthorized Access</title></head><body><h1>401 Unauthorized</h1></body></html>";

/** Headers of every answer, in the order of the original programs. Source: recordings `node_http`. */
function headersOf(message: IncomingMessage, length: number, type: string | undefined): [string, string][] {
  const headers: [string, string][] = [
    ["Server", "Epee-based"],
    ["Content-Length", String(length)],
  ];
  if (type !== undefined) headers.push(["Content-Type", type]);
  headers.push(["Last-Modified", dateNow()], ["Accept-Ranges", "bytes"]);
  if (message.headers.connection?.toLowerCase() === "close") headers.push(["Connection", "close"]);
  return headers;
}

let dateSecond = 0;
let dateText = "";

/** HTTP date, made once a second. */
function dateNow(): string {
  const second = Math.floor(Date.now() / 1000);
  if (second !== dateSecond) {
    dateSecond = second;
    dateText = new Date(second * 1000).toUTCString();
  }
  return dateText;
}

/** Sends an answer; a caller who takes nothing for `slowMs` is cut off. */
export function sendAnswer(
  message: IncomingMessage,
  response: ServerResponse,
  { answer, slowMs }: { readonly answer: Answer; readonly slowMs: number },
): void {
  const { status, type, body } = answer;
  if (status === 413) message.headers.connection = "close";
  prepare(message, response);
  response.writeHead(status, reasons[status], headersOf(message, body.length, type).flat());
  cutOffWhenStuck(response, slowMs);
  response.end(message.method === "HEAD" ? undefined : body);
}

function cutOffWhenStuck(response: ServerResponse, slowMs: number): void {
  const { socket } = response;
  if (socket === null) return;
  const cutOff = (): void => {
    socket.destroy();
  };
  socket.setTimeout(slowMs, cutOff);
  response.once("finish", () => {
    socket.setTimeout(0);
    socket.removeListener("timeout", cutOff);
  });
}

/** Sends what a browser asks before a request: nothing is granted. */
export function sendOptions(message: IncomingMessage, response: ServerResponse): void {
  prepare(message, response);
  response.writeHead(200, "OK", headersOf(message, 0, undefined).flat());
  response.end();
}

/** Asks for credentials. */
export function sendChallenge(
  message: IncomingMessage,
  response: ServerResponse,
  challenges: readonly [string, string],
): void {
  prepare(message, response);
  const headers = headersOf(message, UNAUTHORIZED.length, "text/html");
  for (const challenge of challenges) headers.push(["WWW-authenticate", challenge]);
  response.writeHead(401, "Unauthorized", headers.flat());
  response.end(message.method === "HEAD" ? undefined : UNAUTHORIZED);
}

/** Keeps Node from adding headers of its own. */
function prepare(message: IncomingMessage, response: ServerResponse): void {
  response.sendDate = false;
  if (message.headers.connection?.toLowerCase() !== "close") response.removeHeader("Connection");
}
