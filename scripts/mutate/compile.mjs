// From a changed source to the JavaScript that runs, and from a place in a source to the one in its JavaScript.
import { join } from "node:path";
import ts from "typescript";
import { root } from "../sources.mjs";

const { compilerOptions } = ts.readConfigFile(join(root, "tsconfig.base.json"), ts.sys.readFile).config;
/** One file alone has no package beside it that says it is a module. */
const alone = { module: "esnext", composite: false, declaration: false, sourceMap: false };
const { options } = ts.convertCompilerOptionsFromJson({ ...compilerOptions, ...alone }, root);

/** `packages/x/src/a.ts` is compiled to `packages/x/dist/src/a.js`. */
export function compiledPath(source) {
  return source.replace(/^(packages\/[^/]+|bin)\//, "$1/dist/").replace(/\.ts$/, ".js");
}

export function compile(file, text) {
  return ts.transpileModule(text, { fileName: file, compilerOptions: options }).outputText;
}

const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** Numbers of one segment of a source map. Source: the "Source Map" specification, base 64 VLQ. */
function decodeSegment(segment) {
  const numbers = [];
  let value = 0;
  let shift = 0;
  for (const letter of segment) {
    const digit = digits.indexOf(letter);
    value += (digit & 31) << shift;
    shift += 5;
    if (digit & 32) continue;
    numbers.push(value & 1 ? -(value >> 1) : value >> 1);
    value = 0;
    shift = 0;
  }
  return numbers;
}

const lineStarts = (text) => [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)];

/** Answers the offset in the compiled file that belongs to an offset in the source; both in a copy of the tree. */
export function offsetsOf(tree, file) {
  const text = tree.read(file);
  const compiled = tree.read(compiledPath(file));
  const map = JSON.parse(tree.read(`${compiledPath(file)}.map`));
  const [inSource, inCompiled] = [lineStarts(text), lineStarts(compiled)];
  const pairs = [];
  let [line, column] = [0, 0];
  for (const [row, segments] of map.mappings.split(";").entries()) {
    let at = 0;
    for (const segment of segments.split(",").filter((each) => each !== "")) {
      const [step, , lines = 0, columns = 0] = decodeSegment(segment);
      at += step;
      line += lines;
      column += columns;
      pairs.push([inSource[line] + column, inCompiled[row] + at]);
    }
  }
  pairs.sort(([a], [b]) => a - b);
  return (offset) => {
    let count = 0;
    for (const [from, to] of pairs) {
      if (from > offset) break;
      count = to;
    }
    return count;
  };
}
