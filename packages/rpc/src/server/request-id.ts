import { randomBytes } from "node:crypto";

/** Taken over from a caller: nothing that could pass for another field of a log line. */
const FOREIGN_ID = /^[A-Za-z0-9._-]{1,64}$/;

/** Names requests: as their header X-Request-Id does, else by a number that follows a random beginning of this run. */
export function createRequestIds(): (header: string | undefined) => string {
  const run = randomBytes(4).toString("hex");
  let count = 0;
  return (header) => {
    count++;
    return header !== undefined && FOREIGN_ID.test(header) ? header : `${run}-${count}`;
  };
}
