import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { openPortable, type PortableObject, readPortable, writePortable } from "@anulo/protocol";
import { type Call, daemonMethods } from "../src/index.ts";
import { goldenSteps, type Step } from "./golden.ts";

const calls = Object.values(daemonMethods) as readonly Call[];

function binaryCall(step: Step): Call | undefined {
  const { path = "" } = step.request;
  return calls.find((call) => call.transport === "binary" && [call.name, ...call.aliases].includes(path));
}

describe("recorded binary paths", () => {
  const steps = goldenSteps("node_bin", "0.18.0").filter(
    (step) => binaryCall(step) && step.request.hex !== undefined,
  );

  for (const step of steps) {
    it(`writes the answer to ${step.id} byte for byte`, () => {
      const { result } = binaryCall(step)!;
      const value = openPortable(Buffer.from(step.answer.hex!, "hex"));
      const read = result.readPortable(value, { of: "answer" });
      const written = result.writePortable(read) as { value: PortableObject };
      assert.equal(Buffer.from(writePortable(written.value)).toString("hex"), step.answer.hex);
    });

    it(`reads the request ${step.id}`, () => {
      const { params } = binaryCall(step)!;
      const bytes = Buffer.from(step.request.hex!, "hex");
      const read = params.readPortable(openPortable(bytes), { of: "request" });
      const written = params.writePortable(read) as { value: PortableObject };
      for (const [name, entry] of readPortable(bytes)) {
        if ("values" in entry && entry.values.length === 0) continue;
        assert.deepEqual(written.value.get(name), entry, name);
      }
    });
  }

  it("covers every answer of the group", () => assert.ok(steps.length >= 30));
});
