/** Two files, so that the two halves run at once. */
export const isOfSigners = (name: string): boolean => /multisig|signers/.test(name);
