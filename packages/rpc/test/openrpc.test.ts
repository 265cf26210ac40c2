import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  type Call,
  createRpcServer,
  daemon,
  daemonMethods,
  implementFor,
  openRpcDocument,
  walletMethods,
} from "../src/index.ts";

const unimplemented = (group: Readonly<Record<string, Call>>) =>
  Object.values(group).map((call) => ({ call, handler: undefined }));

describe("OpenRPC document", () => {
  for (const [title, group] of Object.entries({ node: daemonMethods, wallet: walletMethods })) {
    it(`describes every call of the ${title} service`, () => {
      const document = openRpcDocument(unimplemented(group), { title, version: "1" });
      type Described = { params: { name: string; schema: object }[] };
      const described = [document.methods, document["x-paths"]].flat() as unknown as Described[];
      assert.equal(described.length, Object.keys(group).length);
      for (const one of described) {
        assert.ok(one.params.every(({ name, schema }) => name.length > 0 && typeof schema === "object"));
      }
    });
  }

  it("is answered by rpc.discover and tells what is not implemented", async (t) => {
    const implement = implementFor<object>();
    const { blocks, network } = daemon;
    const server = await createRpcServer({
      calls: [
        ...implement({ getBlockCount: blocks.getBlockCount }, { getBlockCount: () => ({ count: 1 }) }),
        ...implement({ getBans: network.getBans }, {}, ["getBans"]),
      ],
      listen: [{ host: "127.0.0.1", port: 0 }],
      info: { title: "a node", version: "2" },
      context: () => ({}),
    });
    t.after(() => server.stop());
    const body = JSON.stringify({ id: 1, method: "rpc.discover" });
    const response = await fetch(`${server.urls[0]}/json_rpc`, { method: "POST", body });
    const { result } = (await response.json()) as {
      result: { info: object; methods: Record<string, unknown>[] };
    };
    assert.deepEqual(result.info, { title: "a node", version: "2" });
    const states = result.methods.map((one) => [one.name, one["x-not-implemented"] === true]);
    assert.deepEqual(states, [
      ["get_block_count", false],
      ["get_bans", true],
    ]);
  });
});
