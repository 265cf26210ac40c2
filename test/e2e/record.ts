/** Runs the original programs on the recorded chains and keeps what they answer: `node test/dist/e2e/record.js`. */
import { onStage } from "../actors.ts";
import { observe } from "./observe.ts";
import { realChains, writeRecording } from "./recordings.ts";

for (const chain of realChains()) {
  writeRecording(chain.name, await onStage((stage) => observe(stage, "real", chain)));
  console.log(`${chain.name}: recorded`);
}
