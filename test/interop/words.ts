import { loadChain } from "@anulo/testkit";

const { wallets } = loadChain();

/** Mnemonics of two wallets whose keys are public knowledge. */
export const words = { alice: wallets.alice.mnemonic, bob: wallets.bob.mnemonic } as const;
