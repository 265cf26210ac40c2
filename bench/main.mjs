// Measures what must be fast, each beside the original program in the same run, and prints one table.
// Arguments choose among the files beside this one: crypto, randomx, services, transactions, payments, requests, reads,
// latency, sync, wallet-work, wallet-reads, wallet-proofs, wallet-scan, scans. `--monerod FILE` (or ANULO_MONEROD) names the
// original to measure beside; its other programs are those in the same folder.
import { delimiter, dirname, resolve } from "node:path";
import { realProgramsMissing } from "@anulo/testkit";
import { endStage } from "./wallets.mjs";

const parts = [
  ...["crypto", "randomx", "services", "transactions", "payments", "requests", "reads", "latency", "sync"],
  ...["wallet-work", "wallet-reads", "wallet-proofs", "wallet-scan", "scans"],
];

function shown(value) {
  if (Number.isNaN(value)) return "";
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3);
}

/** A row has a limit of its ratio, or of our figure itself (`most`, `least`), or none. */
function verdict({ ours, native, atMost, atLeast, most, least }) {
  const ratio = ours / native;
  if (least !== undefined) {
    const isMet = ours >= least;
    return { ratio: "", limit: `${least} at least`, says: isMet ? "met" : "NOT MET", isMet };
  }
  if (most !== undefined) {
    const isMet = ours <= most;
    const shownRatio = Number.isNaN(ratio) ? "" : ratio.toPrecision(3);
    return { ratio: shownRatio, limit: `${most} at most`, says: isMet ? "met" : "NOT MET", isMet };
  }
  if (atMost === undefined && atLeast === undefined) return { ratio: "", limit: "", says: "", isMet: true };
  if (Number.isNaN(ratio)) return { ratio: "", limit: "", says: "", isMet: true };
  const limit = atMost === undefined ? `≥ ${atLeast}` : `≤ ${Number(atMost.toPrecision(3))}`;
  const isMet = atMost === undefined ? ratio >= atLeast : ratio <= atMost;
  return { ratio: ratio.toPrecision(3), limit, says: isMet ? "met" : "NOT MET", isMet };
}

function printTable(rows) {
  const lines = rows.map((row) => {
    const { ratio, limit, says } = verdict(row);
    return [row.name, row.unit, shown(row.ours), shown(row.native), ratio, limit, says];
  });
  const table = [["", "unit", "ours", "native", "ratio", "limit", ""], ...lines];
  const widths = table[0].map((_, at) => Math.max(...table.map((line) => line[at].length)));
  for (const line of table)
    console.log(
      line
        .map((cell, at) => cell.padEnd(widths[at]))
        .join("  ")
        .trimEnd(),
    );
}

const wanted = process.argv.slice(2);
const at = wanted.indexOf("--monerod");
const monerod = at === -1 ? process.env.ANULO_MONEROD : wanted.splice(at, 2)[1];
if (monerod !== undefined) process.env.PATH = [dirname(resolve(monerod)), process.env.PATH].join(delimiter);

const missing = realProgramsMissing();
if (missing) {
  console.error(`bench: ${missing}`);
  process.exit(1);
}
const rows = [];
try {
  for (const part of parts) {
    if (wanted.length > 0 && !wanted.includes(part)) continue;
    const { measure } = await import(`./${part}.mjs`);
    rows.push(...(await measure()));
  }
} finally {
  // Also what was measured before a part failed.
  printTable(rows);
  await endStage();
}
process.exit(rows.every((row) => verdict(row).isMet) ? 0 : 1);
