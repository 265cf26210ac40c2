import type { Answer } from "../server/answer.ts";

const statuses: readonly number[] = [
  200, 400, 404, 405, 409, 410, 413, 500, 503,
] satisfies Answer["status"][];

/** Whether processes of this service respond to one another with this status. */
export const isPassedStatus = (status: number): status is Answer["status"] => statuses.includes(status);
