/** Questions at the edges of what the wallet service takes, beyond the recorded ones, in the order to ask them. */
import { type Exact, type ExactObject, loadGoldenState } from "@anulo/testkit";

/** Each method with the parameters to ask it with. */
export type Questions = readonly (readonly [method: string, ...params: readonly ExactObject[]])[];

const { wallets, txs, key_images } = loadGoldenState();
const { a, b } = wallets;
const plain = txs.plain!.hash;
const most = 2n ** 64n - 1n;
const testnet =
  "9ujeXrjzf7bfeK3KZdCqnYaMwZVFuXemPU8Ubw335rj2FN1CdMiWNyFV3ksEfMFvRp9L9qum5UxkP5rN9aLcPxbH1au4WAB";

const each = (field: string, values: readonly Exact[], rest: ExactObject = {}): ExactObject[] =>
  values.map((value) => ({ ...rest, [field]: value }));
const numbers: readonly Exact[] = [
  ...[0xffff_ffff, 2 ** 32, most, most + 1n, -0, "", " 1", "-1", "0x1", "1.5", "4294967296", "01", 1.5],
];
const lists: readonly Exact[] = [
  ...[[0, 0], ["0"], ["0", 1], [0, null], [null], [[0]], [{}], [1, "x"], [2 ** 32], [-1], [1.5], [true], ""],
];

const every = { in: true, out: true, pending: true, failed: true, pool: true };
const within = (min_height?: Exact, max_height?: Exact): ExactObject => ({
  ...every,
  filter_by_height: true,
  ...(min_height !== undefined && { min_height }),
  ...(max_height !== undefined && { max_height }),
});

const accounts: Questions = [
  ["get_balance", ...each("account_index", numbers), ...each("address_indices", lists)],
  ["get_balance", { all_accounts: true, address_indices: [0] }, { address_indices: [1, 1, 0] }, { other: 1 }],
  ["get_address", ...each("account_index", numbers), { address_index: [2, 1, 1] }],
  ["create_address", ...each("count", [0, -1, 65, 65_537, "1"]), { count: 2, label: "two" }],
  ["label_address", { index: { minor: 1 }, label: "m" }, { index: { major: 0, minor: 0 }, label: "" }],
  [
    "label_address",
    { index: { major: 2 ** 32 }, label: "x" },
    { index: { major: "0", minor: "1" }, label: "x" },
  ],
  [
    "tag_accounts",
    { tag: "t", accounts: [0, 0] },
    { tag: "t", accounts: [] },
    { tag: "a b;c", accounts: ["1"] },
  ],
  ["get_accounts", ...each("tag", ["a.*", "^a b;c$", "A B.*", "", "t|u"], { regexp: true }), { tag: "t" }],
  ["set_account_tag_description", { tag: "t", description: "" }, { tag: "", description: "d" }],
  ["untag_accounts", { accounts: [0, 0, 1] }, { accounts: [99] }],
  ["get_account_tags", {}],
];

const history: Questions = [
  [
    "get_transfers",
    within(),
    within(0),
    within(81, 81),
    within(80, 81),
    within(95, 80),
    within(107),
    within(106),
  ],
  ["get_transfers", within(most), within(0, most), within(0, 0), within(null, null), within(-1)],
  ["get_transfers", { ...within(100), filter_by_height: false }, { ...within(100), filter_by_height: 1 }],
  ["get_transfers", ...each("subaddr_indices", [[0], [0, 1, 1], [], [9999]], every)],
  ["get_transfers", { ...every, all_accounts: true, subaddr_indices: [1] }, { ...every, account_index: 1 }],
  ["get_transfers", ...each("in", ["true", 1, 2, "1", -1, null]), ...each("pool", [true], within(0, 80))],
  [
    "get_transfer_by_txid",
    ...each("txid", [plain.toUpperCase(), `${plain}00`, ` ${plain}`, "", `0x${plain}`]),
  ],
  [
    "incoming_transfers",
    ...each("subaddr_indices", [[0, 1], [1, 1], [7777]], { transfer_type: "available" }),
  ],
  [
    "incoming_transfers",
    { transfer_type: "ALL" },
    { transfer_type: "all", verbose: true, account_index: 77 },
  ],
  ["get_payments", ...each("payment_id", ["0".repeat(64), "799B885A7F56B27A", " ", "0x99b885a7f56b27a"])],
  ["get_bulk_payments", ...each("payment_ids", [[""], ["799b885a7f56b27a", "xx"], "x", {}, [1]])],
  ["get_bulk_payments", ...each("min_block_height", [92, 93, -1, most, most + 1n])],
  ["set_tx_notes", { txids: [plain, plain], notes: ["one", "two"] }, { txids: [plain], notes: [] }],
  [
    "set_tx_notes",
    { txids: [plain, "zz"], notes: ["in part", "x"] },
    { txids: ["0".repeat(64)], notes: ["n"] },
  ],
  ["get_tx_notes", { txids: [plain, plain, "0".repeat(64)] }, { txids: [plain, "zz"] }],
  ["set_attribute", { key: "", value: "v" }, { key: "k" }, { value: "v" }],
  ["get_attribute", { key: "" }, { key: "k" }, {}],
];

const uri = (query: string): ExactObject => ({ uri: `monero:${b.address}${query}` });
const amounts = ["0", ".5", "5.", "-1", "+1", "1e3", " 1", "18446744.073709551615", "18446744.073709551616"];

const texts: Questions = [
  [
    "make_uri",
    ...[..."!\"#$%&'()*+,-./:;<>@[\\]^_`{|}~é"].map((c) => ({ address: a.address, recipient_name: c })),
  ],
  ["make_uri", ...each("amount", [1, most, -1, 1.5, null], { address: a.address }), { address: testnet }],
  [
    "parse_uri",
    ...amounts.map((amount) => uri(`?tx_amount=${amount}`)),
    uri("?"),
    uri("?&"),
    uri("??tx_amount=1"),
  ],
  [
    "parse_uri",
    uri("?TX_AMOUNT=1"),
    uri("?recipient_name=%zz"),
    uri("?recipient_name=a+b"),
    uri("?foo"),
    uri("#x"),
  ],
  [
    "parse_uri",
    uri("?recipient_name=a&recipient_name=b"),
    uri("?=x"),
    uri("?foo=1&bar=2"),
    { uri: "monero" },
  ],
  [
    "validate_address",
    ...each("address", [` ${a.address}`, `${a.address}\n`, testnet, "0OIl", "1".repeat(9999)]),
  ],
  [
    "make_integrated_address",
    ...each("payment_id", ["0123456789ABCDEF", " 123456789abcdef", "0".repeat(16)]),
  ],
  ["add_address_book", { address: b.address }, { address: b.address, description: "twice" }, { address: "" }],
  [
    "edit_address_book",
    { index: 0, set_description: true },
    { index: "0", set_description: 1, description: "n" },
  ],
  [
    "edit_address_book",
    { index: 0, set_address: true, address: "x", set_description: true, description: "no" },
  ],
  ["get_address_book", {}, { entries: [1, 0, 0] }, { entries: [-1] }, { entries: {} }],
  ["delete_address_book", {}, { index: 9 }],
  [
    "set_log_categories",
    ...each("categories", ["9", "-1", " 2", "7,x:INFO", "1,", "+", "+x:DEBUG", "-x", "0"]),
  ],
  ["set_log_level", ...each("level", [5, -1, "4", 128, -128, 1.5, null, 0])],
];

const [, image] = key_images.a as [string, string];

const service: Questions = [
  ["estimate_tx_size_and_weight", ...each("n_inputs", [0, 1, "2", 100, -1, 2 ** 32], { n_outputs: 2 })],
  ["estimate_tx_size_and_weight", ...each("n_outputs", [0, 1, 16, 17], { n_inputs: 2, ring_size: 11 })],
  ["estimate_tx_size_and_weight", { n_inputs: 3, n_outputs: 5, rct: false, ring_size: 5 }],
  ["freeze", ...each("key_image", [image.toUpperCase(), `${image}00`, ` ${image}`, "", null])],
  ["frozen", { key_image: image }],
  ["thaw", { key_image: image }, { key_image: "f".repeat(64) }],
  ["auto_refresh", { period: -1 }, { period: "7" }, { period: 2 ** 32 }, { enable: "no" }, { enable: false }],
  ["refresh", ...each("start_height", [1_000_000, 5, -1, most, 50])],
  ["scan_tx", { txids: [plain, plain] }, { txids: [""] }, { txids: [] }],
  ["sign", { data: "x", account_index: -1 }, { data: "x", signature_type: "SPEND" }],
  ["verify", { data: "", address: b.address, signature: `SigV3${"1".repeat(88)}` }, { data: "x" }],
];

const sent = (more: ExactObject): ExactObject => ({ do_not_relay: true, ...more });
const paying = (amount: Exact, address = b.address): ExactObject =>
  sent({ destinations: [{ address, amount }] });
const swept = (more: ExactObject): ExactObject => sent({ address: b.address, ...more });
const one = { address: b.address, amount: 1 };

/** None of them makes a transaction. */
const refusedTransfers: Questions = [
  ["transfer", {}, paying(0), paying(-1), paying(1.5), paying(most + 1n), paying(1, ""), paying(1, testnet)],
  ["transfer", sent({ destinations: [one, { ...one, amount: most }] }), sent({ destinations: [one, {}] })],
  [
    "transfer",
    ...each("subaddr_indices", [[99], [-1]], paying(10n ** 15n)),
    { ...paying(1), account_index: 99 },
  ],
  [
    "transfer",
    ...each("priority", [-1, 2 ** 32], paying(1)),
    { ...paying(1), payment_id: "0123456789abcdef" },
  ],
  ["sweep_all", ...each("outputs", [0, -1]), { address: "x" }, swept({ account_index: 99 })],
  ["sweep_all", swept({ below_amount: 1 }), swept({ subaddr_indices: [99] }), swept({ payment_id: "00" })],
  [
    "sweep_single",
    {},
    swept({ key_image: "zz" }),
    swept({ key_image: image }),
    swept({ key_image: "0".repeat(64) }),
  ],
  ["relay_tx", {}, { hex: "" }, { hex: "zz" }, { hex: "00" }],
];

const restored = (seed: string, more: ExactObject = {}): ExactObject => ({ filename: "", seed, ...more });
const seedWords = a.mnemonic.split(" ");
const oldWords =
  "like just love know never want time out there make look eye down only think heart back then into about more away still them";

/** Each opens a wallet that is kept in memory, or refuses. */
const files: Questions = [
  [
    "restore_deterministic_wallet",
    restored(""),
    restored(seedWords.slice(0, 12).join(" ")),
    restored(oldWords),
  ],
  ["restore_deterministic_wallet", ...each("language", ["xx", "Deutsch", "EnglishOld"], restored(oldWords))],
  [
    "restore_deterministic_wallet",
    restored(a.mnemonic.toUpperCase()),
    restored(seedWords.slice(0, 24).join("\n")),
  ],
  ["restore_deterministic_wallet", restored(seedWords.map((word) => word.slice(0, 3)).join("  "))],
  ["restore_deterministic_wallet", restored(a.mnemonic, { seed_offset: "secret", restore_height: 77 })],
  ["open_wallet", {}, { filename: "none" }, { filename: "../w" }, { filename: "w", password: "wrong" }],
  ["open_wallet", { filename: "w.keys", password: "p" }],
  ["change_wallet_password", {}, { old_password: "x", new_password: "y" }],
];

export const oddQuestions: Questions = [
  ...accounts,
  ...history,
  ...texts,
  ...service,
  ...refusedTransfers,
  ...files,
];
