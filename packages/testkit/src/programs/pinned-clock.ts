/**
 * Loaded into a program of ours before it begins (`--import`): its clock stands still. So ages and what is left of
 * a ban do not depend on how long a run took, on a machine that has other work.
 */
const startedAt = Date.now();
Date.now = () => startedAt;
