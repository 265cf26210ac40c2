import type { FlagTable } from "./flags.ts";

const noPayments = "calls are free, payments for RPC are not supported";
const noTest = "it is for tests of the original";

/** Flags that configuration files of the original may contain and that have no effect here. */
export const originalNodeFlags = {
  "disable-dns-checkpoints": { kind: "switch", noEffect: "no DNS is asked for checkpoints" },
  "enforce-dns-checkpointing": { kind: "switch", noEffect: "no DNS is asked for checkpoints" },
  "check-updates": {
    kind: "text",
    choices: ["disabled", "notify", "download", "update"],
    noEffect: "no updates are looked for, fetched or installed",
  },
  "fluffy-blocks": { kind: "switch", noEffect: "new blocks are sent without their transactions anyway" },
  "no-fluffy-blocks": { kind: "switch", noEffect: "new blocks are sent without their transactions" },
  "rpc-payment-address": { kind: "text", value: "ADDRESS", noEffect: noPayments },
  "rpc-payment-difficulty": { kind: "text", value: "N", noEffect: noPayments },
  "rpc-payment-credits": { kind: "text", value: "N", noEffect: noPayments },
  "rpc-payment-allow-free-loopback": { kind: "switch", noEffect: noPayments },
  "test-drop-download": { kind: "switch", noEffect: noTest },
  "test-drop-download-height": { kind: "text", value: "N", noEffect: noTest },
  "test-dbg-lock-sleep": { kind: "text", value: "MS", noEffect: noTest },
  "tos-flag": { kind: "text", value: "N", noEffect: "packets keep the system's type of service" },
} as const satisfies FlagTable;
