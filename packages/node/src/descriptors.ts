/** Descriptors for files, threads, processes and connections of our own, and those that are about to be refused. */
const OWN_DESCRIPTORS = 48;
/** However low the limit is. */
const MIN_CONNECTIONS = 8;

/**
 * Returns how many connections each port may accept, so that no port takes descriptors that another one, the database
 * or the owner's calls need.
 */
export function connectionsPerPort(ports: number, limit: number): number {
  return Math.max(MIN_CONNECTIONS, Math.floor((limit - OWN_DESCRIPTORS) / ports));
}
