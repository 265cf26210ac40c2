import { randomBytes } from "node:crypto";

/** An id that is accepted from a caller: it cannot look like another field of a log line. */
const FOREIGN_ID = /^[A-Za-z0-9._-]{1,64}$/;

/** Creates ids of requests: the header X-Request-Id, otherwise a number after a random prefix of this run. */
export function createRequestIds(): (header: string | undefined) => string {
  const run = randomBytes(4).toString("hex");
  let count = 0;
  return (header) => {
    count++;
    return header !== undefined && FOREIGN_ID.test(header) ? header : `${run}-${count}`;
  };
}
