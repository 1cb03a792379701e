// The compiler as a service: syntax trees, the other possible values of a literal, and whether a changed file still has the types that its callers
// rely on.
import { join } from "node:path";
import { isBinaryExpression, isExpression, type Node } from "typescript/unstable/ast";
import { API, type Program, type Project, type Snapshot, type Type } from "typescript/unstable/sync";

export class Checker {
  readonly #root: string;
  readonly #texts = new Map<string, string>();
  readonly #api: API;
  #snapshot: Snapshot;

  constructor(root: string) {
    this.#root = root;
    this.#api = new API({ cwd: root, fs: { readFile: (file) => this.#texts.get(file) } });
    this.#snapshot = this.#api.updateSnapshot({ openProjects: [join(root, "tsconfig.json")] });
  }

  treeOf(file: string): { readonly tree: Node; readonly text: string } {
    const tree = this.#program.getSourceFile(join(this.#root, file));
    if (tree === undefined) throw new Error(`the project has no ${file}`);
    return { tree, text: tree.text };
  }

  /** The values that may replace the literal, from the type of the expression that it is compared with, or of its target. */
  statesAt(literal: Node): readonly string[] {
    const { checker } = this.#project;
    const { parent } = literal;
    if (isBinaryExpression(parent))
      return statesOf(checker.getTypeAtLocation(parent.left === literal ? parent.right : parent.left));
    if (!isExpression(literal)) throw new Error(`no literal: ${literal.getText()}`);
    return statesOf(checker.getContextualType(literal));
  }

  /** Whether the compiler accepts the file with this text. */
  accepts(file: string, text: string): boolean {
    const path = join(this.#root, file);
    this.#texts.set(path, text);
    this.#refresh(path);
    const program = this.#program;
    const isFine =
      program.getSyntacticDiagnostics(path).length === 0 && program.getSemanticDiagnostics(path).length === 0;
    this.#texts.delete(path);
    this.#refresh(path);
    return isFine;
  }

  close(): void {
    this.#api.close();
  }

  get #project(): Project {
    const [project] = this.#snapshot.getProjects();
    if (project === undefined) throw new Error("no project");
    return project;
  }

  get #program(): Program {
    return this.#project.program;
  }

  #refresh(path: string): void {
    const before = this.#snapshot;
    this.#snapshot = this.#api.updateSnapshot({ fileChanges: { changed: [path] } });
    before.dispose();
  }
}

function statesOf(type: Type | undefined): readonly string[] {
  return (type?.isUnionType() ? (type.getTypes() ?? []) : []).flatMap((each) =>
    each.isStringLiteralType() ? [String(each.value)] : [],
  );
}
