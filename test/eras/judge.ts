import { fromHex, readTransaction, toHex, transactionHash } from "@anulo/protocol";
import { CallFailed, call, type ExactObject, post } from "@anulo/testkit";

/** What `/send_raw_transaction` answers with, beside `status` and `reason`. */
const flags = [
  ...["double_spend", "fee_too_low", "invalid_input", "invalid_output", "low_mixin", "overspend", "too_big"],
  ...["too_few_outputs", "sanity_check_failed", "tx_extra_too_big", "nonzero_unlock_time"],
] as const;

/** The original refuses some bytes by an exception nobody catches: HTTP 500, where ours says "Failed". */
function uncaught(error: Error): ExactObject {
  if (error.message.includes("HTTP 500")) return { status: "Failed" };
  throw error;
}

/** A node's answer to a transaction, as words: "OK", or why not. A pool it entered is as before afterwards. */
export async function tryTransaction(url: string, hex: string): Promise<string> {
  const body = { tx_as_hex: hex, do_sanity_checks: false };
  const answer = await post(`${url}/send_raw_transaction`, body).catch(uncaught);
  if (answer.status === "OK") {
    await call(url, "flush_txpool", { txids: [toHex(transactionHash(readTransaction(fromHex(hex))))] });
  }
  return [String(answer.status), ...flags.filter((flag) => answer[flag] === true)].join(" ");
}

/** A node's answer to a block, as words; a chain of this height that it enters is as before afterwards. */
export async function tryBlock(url: string, hex: string, height: number): Promise<string> {
  const code = await call(url, "submit_block", [hex]).then(
    () => 0,
    (error: unknown) => {
      if (error instanceof CallFailed) return error.code;
      throw error;
    },
  );
  if (code !== 0) return `code ${code}, not on top`;
  const isOnTop = Number((await post(`${url}/get_height`)).height) > height;
  if (isOnTop) await post(`${url}/pop_blocks`, { nblocks: 1 });
  return `OK, ${isOnTop ? "on top" : "not on top"}`;
}
