// What lets Vite bundle @anulo/crypto and @anulo/protocol for browsers, in place of what only Node has.

const MODULE = "\0modules-of-node";

/** Names that the bundled packages import of Node. None is called by what checks: it neither reads files nor makes secrets. */
const names = [
  "readFileSync",
  "setFlagsFromString",
  "randomBytes",
  "createCipheriv",
  "createRequire",
  "availableParallelism",
  "Worker",
  "parentPort",
  "workerData",
];

/** Modules of Node become one whose functions throw. */
export const withoutNode = {
  name: "without-node",
  enforce: "pre",
  resolveId: (id) => (id.startsWith("node:") ? MODULE : undefined),
  load: (id) =>
    id === MODULE
      ? `const missing = () => { throw new Error("not in a browser"); };\n${names.map((name) => `export const ${name} = missing;`).join("\n")}`
      : undefined,
};

/** Parts of modules that work in Node alone, and what does the same in browsers. */
const replaced = [
  {
    module: /\/packages\/crypto\/dist\/src\/wasm\/kernel\.js$/,
    parts: [["const bytes = readFileSync(kernelFiles[name]);", "const bytes = fetchedKernel;"]],
    // Fetched before the modules that need it are run; the one of the two that this browser can run.
    end: `const fetchedKernel = await fetch(kernelFiles[hasFusedMultiplyAdd() ? "fma" : "fallback"]).then((answer) => answer.arrayBuffer());`,
  },
  {
    module: /\/packages\/protocol\/dist\/src\/bytes\.js$/,
    parts: [
      [
        'return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("hex");',
        'return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");',
      ],
    ],
    end: "",
  },
];

/** Puts the replacements in place; a part that is no longer there is a mistake here. */
export const forBrowser = {
  name: "for-browsers",
  transform(code, id) {
    const replacement = replaced.find(({ module }) => module.test(id));
    if (replacement === undefined) return undefined;
    const text = replacement.parts.reduce((before, [part, other]) => {
      if (!before.includes(part)) throw new Error(`${id} no longer says: ${part}`);
      return before.replace(part, other);
    }, code);
    return `${text}\n${replacement.end}`;
  },
};

/** Names of the program's environment that the bundled packages look at. */
export const define = {
  "process.env.ANULO_CRYPTO": "undefined",
  "process.versions.v8": JSON.stringify("99.0"),
};
