// Runs one compiled test file in a copy of the tree.
import { spawn } from "node:child_process";

/** Ends a test with all it has started. */
function endGroup(child) {
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch {
    // It is gone already.
  }
}

/**
 * Resolves to "passed", "failed" or "late". With `isHasty` a run ends at its first failed test.
 * Tests are the quick ones of `npm run check`.
 */
export function runTest(tree, file, { timeoutMs, isHasty = true, env = {} }) {
  tree.emptyTemporary();
  return new Promise((resolve) => {
    const child = spawn(process.execPath, ["--test-reporter=tap", file], {
      cwd: tree.folder,
      detached: true,
      stdio: ["ignore", "pipe", "ignore"],
      env: { ...process.env, ANULO_TESTS: "quick", TMPDIR: tree.temporary, ...env },
    });
    let verdict;
    const end = (reason) => {
      verdict ??= reason;
      endGroup(child);
    };
    const timer = setTimeout(() => end("late"), timeoutMs);
    let unread = "";
    child.stdout.on("data", (bytes) => {
      const lines = (unread + bytes).split("\n");
      unread = lines.pop();
      if (isHasty && lines.some((line) => /^\s*not ok\b(?!.*# (TODO|SKIP))/.test(line))) end("failed");
    });
    child.on("exit", (code) => {
      clearTimeout(timer);
      verdict ??= code === 0 ? "passed" : "failed";
      endGroup(child);
      resolve(verdict);
    });
  });
}
