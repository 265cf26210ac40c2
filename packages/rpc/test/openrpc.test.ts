import assert from "node:assert/strict";
import { describe, it } from "node:test";
import metaSchema from "@open-rpc/meta-schema";
import { Ajv } from "ajv";
import {
  type Call,
  createRpcServer,
  daemon,
  daemonMethods,
  errorNamesOf,
  fieldsOfCall,
  formatJson,
  implementFor,
  loadNodeReference,
  loadWalletReference,
  openRpcDocument,
  type ServiceReference,
  walletMethods,
} from "../src/index.ts";
import { createDocument } from "../src/openrpc.ts";
import { callOf, goldenSteps } from "./golden.ts";

const unimplemented = (group: Readonly<Record<string, Call>>) =>
  Object.values(group).map((call) => ({ call, handler: undefined }));

const services = {
  node: { methods: daemonMethods, loadReference: loadNodeReference },
  wallet: { methods: walletMethods, loadReference: loadWalletReference },
};

/** The document as a reader without big integers sees it. */
function documentOf(title: keyof typeof services, reference: ServiceReference) {
  const { methods } = services[title];
  const document = openRpcDocument(unimplemented(methods), { title, version: "1" }, { reference });
  return JSON.parse(formatJson(document)) as Record<string, unknown> & {
    methods: Described[];
    "x-paths": Described[];
    components: { errors: Record<string, object> };
  };
}

type Described = {
  readonly name: string;
  readonly params: { name: string; description?: string; schema: object }[];
  readonly errors?: { $ref: string }[];
  readonly examples?: {
    readonly params: { readonly name: string; readonly value: unknown }[];
    readonly result?: { readonly value: unknown };
    readonly "x-error"?: { readonly code: number; readonly message: string };
    readonly description: string;
  }[];
};

/** The schema as a reader without big integers sees it. */
const plainSchema = (schema: object) =>
  JSON.parse(
    JSON.stringify(schema, (_, value: unknown) => (typeof value === "bigint" ? Number(value) : value)),
  ) as object;

/** The schema without what it refers to elsewhere: JSON Schema's own, which the test after it checks. */
function metaSchemaHere() {
  type Meta = { $schema?: string; definitions: Record<string, object> };
  const own = structuredClone((metaSchema as unknown as { default: Meta }).default);
  delete own.$schema;
  own.definitions.JSONSchema = { type: ["object", "boolean"] };
  const $ref = { type: "string" };
  own.definitions.referenceObject = { type: "object", required: ["$ref"], properties: { $ref } };
  return own;
}

describe("OpenRPC document", () => {
  for (const title of ["node", "wallet"] as const) {
    const { methods, loadReference } = services[title];

    it(`describes every call of the ${title} service`, async () => {
      const document = documentOf(title, await loadReference());
      const described = [document.methods, document["x-paths"]].flat();
      assert.equal(described.length, Object.keys(methods).length);
      for (const { name, params } of described)
        for (const param of params) assert.ok((param.description ?? "").length > 3, `${name} ${param.name}`);
    });

    it(`of the ${title} service is valid by the schema of OpenRPC`, async () => {
      const validate = new Ajv({ strict: false, validateFormats: false }).compile(metaSchemaHere());
      const document = documentOf(title, await loadReference());
      assert.ok(validate(document), JSON.stringify(validate.errors?.slice(0, 3)));
      assert.ok(!validate({ ...document, methods: [{ name: "x" }] }));
    });

    it(`of the ${title} service has schemas that are valid JSON Schema`, async () => {
      const ajv = new Ajv({ strict: false });
      const document = documentOf(title, await loadReference());
      let count = 0;
      const check = (value: unknown): void => {
        if (typeof value !== "object" || value === null) return;
        for (const [key, member] of Object.entries(value)) {
          if (key === "schema") {
            assert.ok(ajv.validateSchema(member as object), JSON.stringify([member, ajv.errors]));
            count++;
          } else check(member);
        }
      };
      check([document.methods, document["x-paths"]]);
      assert.ok(count > 100);
    });

    it(`of the ${title} service names errors that its catalogue has`, async () => {
      const { components, methods: described } = documentOf(title, await loadReference());
      for (const { name, errors = [] } of described) {
        assert.ok(errors.length > 0, name);
        for (const { $ref } of errors)
          assert.ok($ref.replace("#/components/errors/", "") in components.errors);
      }
    });
  }

  for (const title of ["node", "wallet"] as const) {
    it(`of the ${title} service has an example of every call, valid by its schema`, async () => {
      const { methods, loadReference } = services[title];
      const document = documentOf(title, await loadReference());
      const ajv = new Ajv({ strict: false, validateFormats: false });
      const problems: string[] = [];
      const { errors } = await loadReference();
      for (const { name, params, examples = [] } of [document.methods, document["x-paths"]].flat()) {
        const call = Object.values(methods).find((it) => it.name === name)!;
        if (examples.length === 0) problems.push(`${name} has no example`);
        for (const [at, { params: named, result, description, "x-error": error }] of examples.entries()) {
          assert.equal(/portable storage/.test(description), name.endsWith(".bin"), name);
          assert.equal(result === undefined, error !== undefined, `${name}: a result or an error`);
          const codes = errorNamesOf(call, errors).map((it) => errors[it]!.code);
          if (error !== undefined && !codes.includes(error.code)) problems.push(`${name} ${error.code}`);
          const answer = call.result.describe({ of: "answer", dialect: at === 0 ? "contract" : "upstream" });
          if (result !== undefined && !ajv.validate(plainSchema(answer), result.value))
            problems.push(`${name}: ${ajv.errorsText()}`);
          const request = plainSchema(call.params.describe({ of: "request", dialect: "contract" }));
          const isList = call.params.kind === "list";
          const byName = Object.fromEntries(named.map((it) => [it.name, it.value]));
          if (!ajv.validate(request, isList ? byName.params : byName))
            problems.push(`${name} params: ${ajv.errorsText()}`);
          const described = params.map((it) => it.name);
          if (named.some((it) => !described.includes(it.name))) problems.push(`${name} has no such param`);
        }
      }
      assert.deepEqual(problems, []);
    });
  }

  const groups = {
    node: ["node_read", "node_restricted", "node_write"],
    wallet: ["wallet_none", "wallet_files", "wallet_read", "wallet_send", "wallet_cold", "wallet_multisig"],
  };
  for (const title of ["node", "wallet"] as const) {
    it(`of the ${title} service has every error that the original program answered`, async () => {
      const { errors } = await services[title].loadReference();
      const missing = new Set<string>();
      let seen = 0;
      for (const release of ["0.18.0", "0.18.5"] as const) {
        for (const step of groups[title].flatMap((group) => goldenSteps(group, release))) {
          const code = (step.answer.json as { error?: { code: number } } | undefined)?.error?.code;
          const call = callOf(step);
          if (code === undefined || call === undefined || call.transport !== "jsonRpc") continue;
          seen++;
          const names = errorNamesOf(call, errors);
          if (!names.some((name) => errors[name]!.code === code)) missing.add(`${call.name} ${code}`);
        }
      }
      assert.deepEqual([...missing], []);
      assert.ok(seen > 50);
    });
  }

  it("marks what the dialects write differently", async () => {
    const { methods } = documentOf("node", await loadNodeReference());
    const backlog = methods.find(({ name }) => name === "get_txpool_backlog") as unknown as {
      result: { schema: { properties: { backlog: Record<string, unknown> } } };
    };
    const { type, "x-upstream": upstream } = backlog.result.schema.properties.backlog;
    assert.equal(type, "array");
    assert.equal((upstream as { type: string }).type, "string");
  });

  it("lists fields without a description", () => {
    const keys = fieldsOfCall(daemon.blocks.getBlockCount, { count: "Number of blocks." });
    assert.deepEqual(keys.find(({ field }) => field === "get_block_count result.count")?.key, "count");
    assert.ok(keys.some(({ key }) => key === undefined));
    const fieldsOf = (call: Call) => fieldsOfCall(call, {}).map(({ field }) => field);
    assert.deepEqual(fieldsOf(daemon.blocks.onGetBlockHash), [
      "on_get_block_hash params",
      "on_get_block_hash result",
    ]);
    const bans = fieldsOf(daemon.network.getBans);
    assert.ok(bans.includes("get_bans result.bans.ip"), String(bans));
    assert.ok(!bans.includes("get_bans result") && !bans.includes("get_bans params"), String(bans));
  });

  it("is answered by rpc.discover and by GET, and tells what is not implemented", async (t) => {
    const implement = implementFor<object>();
    const { blocks, network } = daemon;
    let loaded = 0;
    const server = await createRpcServer({
      calls: [
        ...implement({ getBlockCount: blocks.getBlockCount }, { getBlockCount: () => ({ count: 1 }) }),
        ...implement({ getBans: network.getBans }, {}, ["getBans"]),
      ],
      listen: [
        { host: "127.0.0.1", port: 0 },
        { host: "127.0.0.1", port: 0, restricted: true },
      ],
      reference: () => {
        loaded++;
        return loadNodeReference();
      },
      context: () => ({}),
    });
    t.after(() => server.stop());
    const body = JSON.stringify({ id: 1, method: "rpc.discover" });
    const response = await fetch(`${server.urls[0]}/json_rpc`, { method: "POST", body });
    const { result } = (await response.json()) as {
      result: { info: { title: string; version: string }; methods: Record<string, unknown>[] };
    };
    assert.equal(result.info.title, "Anulo node");
    assert.match(result.info.version, /^\d+(\.\d+)+$/);
    const states = result.methods.map((one) => [one.name, one["x-not-implemented"] === true]);
    assert.deepEqual(states, [
      ["get_block_count", false],
      ["get_bans", true],
    ]);
    for (const url of server.urls) {
      const byGet = await fetch(`${url}/openrpc.json`);
      assert.equal(byGet.headers.get("content-type"), "application/json");
      assert.deepEqual(await byGet.json(), result);
    }
    assert.equal(loaded, 1);
  });

  it("is written in slices, between which others have their turn", async (t) => {
    const calls = unimplemented(daemonMethods);
    let now = 0;
    t.mock.method(performance, "now", () => (now += 1000));
    let isWritten = false;
    const writing = createDocument(calls, { title: "a node", version: "1" })().then(() => {
      isWritten = true;
    });
    let turns = 0;
    for (; !isWritten; turns++) await new Promise(setImmediate);
    await writing;
    assert.ok(turns >= calls.length, `${turns} turns for ${calls.length} calls`);
  });

  it("has the title and version it is given where there is no reference", async () => {
    const { info } = openRpcDocument([], { title: "a node", version: "2" });
    assert.deepEqual(info, { title: "a node", version: "2" });
  });
});
