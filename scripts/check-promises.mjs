// Refuses a statement of the sources whose value is a promise that nobody waits for: an answer would leave before the
// work behind it is done, and nobody would hear of its failure. `await` or return it; `void` says that nobody need wait.
// Arguments: files to look at, all if none are named. Reads the types of a build.
import { readFileSync } from "node:fs";
import { join, relative } from "node:path";
import ts from "typescript";
import { filesBelow, root } from "./sources.mjs";

/** Tests are left out: `node:test` fails one whose promise fails, and looking at them takes twice as long. */
const isSource = (file) => /^(packages\/[^/]+|bin)\/src\//.test(file);
const named = process.argv.slice(2);
const files =
  named.length > 0
    ? named
    : ["packages", "bin"].flatMap((folder) =>
        filesBelow(folder, (name) => name.endsWith(".ts") && !name.endsWith(".d.ts")).filter(isSource),
      );

function compilerOptions() {
  const { config } = ts.parseConfigFileTextToJson("", readFileSync(join(root, "tsconfig.base.json"), "utf8"));
  const { options, errors } = ts.convertCompilerOptionsFromJson(config.compilerOptions, root);
  if (errors.length > 0) throw new Error(ts.flattenDiagnosticMessageText(errors[0].messageText, "\n"));
  return { ...options, noEmit: true, composite: false, declaration: false };
}

const program = ts.createProgram(
  files.map((file) => join(root, file)),
  compilerOptions(),
);
const types = program.getTypeChecker();

const setsValue = (node) =>
  ts.isBinaryExpression(node) &&
  node.operatorToken.kind >= ts.SyntaxKind.FirstAssignment &&
  node.operatorToken.kind <= ts.SyntaxKind.LastAssignment;

/** Whether a value, or one it may be, has a `then` to wait with. */
function isPromise(type) {
  if (type.isUnion()) return type.types.some(isPromise);
  if ((type.flags & ts.TypeFlags.Object) === 0) return false;
  const then = type.getProperty("then");
  return then !== undefined && types.getTypeOfSymbol(then).getCallSignatures().length > 0;
}

/** Whether a call of ours returns `any`, which may be a promise. */
function mayBePromise(node, type) {
  if ((type.flags & ts.TypeFlags.Any) === 0 || !ts.isCallExpression(node)) return false;
  const declaration = types.getResolvedSignature(node)?.declaration;
  return declaration === undefined || !program.isSourceFileDefaultLibrary(declaration.getSourceFile());
}

function isForgotten({ expression }) {
  if (setsValue(expression) || ts.isAwaitExpression(expression) || ts.isVoidExpression(expression))
    return false;
  const type = types.getTypeAtLocation(expression);
  return isPromise(type) || mayBePromise(expression, type);
}

function forgottenIn(source) {
  const places = [];
  const visit = (node) => {
    if (ts.isExpressionStatement(node) && isForgotten(node)) {
      const { line } = source.getLineAndCharacterOfPosition(node.getStart(source));
      const [text] = node.getText(source).split("\n");
      places.push(`${relative(root, source.fileName)}:${line + 1}: nobody waits for this promise: ${text}`);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return places;
}

const places = files.flatMap((file) => forgottenIn(program.getSourceFile(join(root, file))));
for (const place of places) console.log(place);
console.log(`promises: ${files.length} files, ${places.length} statements that nobody waits for`);
process.exit(places.length === 0 ? 0 : 1);
