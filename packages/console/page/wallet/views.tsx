import type { View } from "../view.ts";

/** What the console shows of a wallet service. */
export const walletViews: readonly View[] = [];
