/** By hand: `node test/dist/recognition/main.js 500`, against the release in ANULO_TODAY_PROGRAMS. */
import { onStage } from "../actors.ts";
import { compareSides } from "./compare.ts";
import { playPayments } from "./play.ts";

const count = Number(process.argv[2] ?? "500");
const started = performance.now();
const { ours, real } = await onStage((stage) => playPayments(stage, { count, unsent: count }));
const { differing, p } = compareSides(ours, real);
for (const each of differing.slice(0, 10)) console.log(each);
console.log(`${count} payments by each: ${differing.length} differ in form`);
for (const [name, value] of Object.entries(p)) console.log(`${name.padEnd(22)} p = ${value.toFixed(4)}`);
console.log(`${((performance.now() - started) / 1000).toFixed(0)} s`);
